// SPDX-License-Identifier: Apache-2.0
// Describes a box for the tooltip, for screen readers and for the clipboard.
import { formatPercent, formatValue } from './format.ts';
import { mergedLabel } from './drawing/painter.ts';
import { KINDS } from './document/frames.ts';
import type { Profile } from './document/profile.ts';
import type { Sides } from './document/layout.ts';
import type { Item } from './document/rows.ts';

export interface Description {
  title: string;
  rows: [string, string][];
}

function figures(profile: Profile, value: number): string {
  return `${formatValue(value, profile.unit)} (${formatPercent(value, profile.total[0]!)})`;
}

/** Returns `+1.2 points`: the change of a share of the whole. */
export function formatPoints(change: number): string {
  const points = change * 100;
  const digits = Math.abs(points) < 1 ? 2 : 1;
  const text = Math.abs(points).toFixed(digits);
  if (Number(text) === 0) return change === 0 ? 'none' : `${change > 0 ? '+' : '\u2212'}0 points`;
  return `${change > 0 ? '+' : '\u2212'}${text} points`;
}

/** Returns the change of a box's share. */
export function changeOf({ before, after }: Sides, box: number): number {
  const share = (side: Float64Array) => (side[0]! > 0 ? side[box]! / side[0]! : 0);
  return share(after) - share(before);
}

function sideRows(profile: Profile, sides: Sides, box: number): [string, string][] {
  const side = (self: Float64Array, total: Float64Array): string => {
    const share = `${formatValue(total[box]!, profile.unit)} (${formatPercent(total[box]!, total[0]!)})`;
    return profile.isOmitted(box) ? share : `${share}, self ${formatValue(self[box]!, profile.unit)}`;
  };
  return [
    ['Before', side(sides.beforeSelf, sides.before)],
    ['After', side(sides.afterSelf, sides.after)],
    ['Change', formatPoints(changeOf(sides, box))],
  ];
}

function describeBox(profile: Profile, box: number, zoomed: number): Description {
  const rows: [string, string][] = [];
  if (profile.sides !== null) rows.push(...sideRows(profile, profile.sides, box));
  else {
    if (!profile.isOmitted(box)) rows.push(['Self', figures(profile, profile.self[box]!)]);
    rows.push(['Total', figures(profile, profile.total[box]!)]);
  }
  const isInside = profile.depth[box]! > profile.depth[zoomed]!;
  if (zoomed > 0 && isInside) rows.push(['Of zoomed', formatPercent(profile.total[box]!, profile.total[zoomed]!)]);
  if (profile.isOmitted(box)) rows.push(['Why', 'cut to keep the graph small']);
  if (profile.frame[box]! >= 0) rows.push(['Kind', KINDS[profile.kind(box)]!]);
  const source = profile.source(box);
  if (source !== '') rows.push(['Source', source]);
  return { title: profile.label(box), rows };
}

export function describe(profile: Profile, item: Item, zoomed: number): Description {
  if (!item.merged) return describeBox(profile, item.first, zoomed);
  const isComparison = profile.sides !== null;
  return {
    title: mergedLabel(profile, item),
    rows: [
      isComparison ? ['Mean of both', formatPercent(item.total, profile.total[0]!)] : ['Total', figures(profile, item.total)],
      ['Why', 'too narrow to draw apart; click to zoom in'],
    ],
  };
}

/** Returns `com.acme.Cart.total, self 1.2 s, total 3.4 s, 12.3 %, java` */
export function sentence(profile: Profile, box: number): string {
  const { unit } = profile;
  const parts = [profile.label(box)];
  if (profile.sides !== null) {
    parts.push(...sideRows(profile, profile.sides, box).map(([name, value]) => `${name.toLowerCase()} ${value}`));
    return parts.join(', ');
  }
  if (!profile.isOmitted(box)) parts.push(`self ${formatValue(profile.self[box]!, unit)}`);
  parts.push(`total ${formatValue(profile.total[box]!, unit)}`, formatPercent(profile.total[box]!, profile.total[0]!));
  if (profile.frame[box]! >= 0) parts.push(KINDS[profile.kind(box)]!);
  return parts.join(', ');
}
