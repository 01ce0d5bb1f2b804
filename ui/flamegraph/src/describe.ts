// What is said about a box: in the tooltip, to a screen reader, and to whoever copies it.
import { formatPercent, formatValue } from './format.ts';
import { mergedLabel } from './painter.ts';
import { KINDS, type Profile } from './profile.ts';
import type { Item } from './rows.ts';

export interface Description {
  title: string;
  rows: [string, string][];
}

function figures(profile: Profile, value: number): string {
  return `${formatValue(value, profile.unit)} (${formatPercent(value, profile.total[0]!)})`;
}

function describeBox(profile: Profile, box: number, zoomed: number): Description {
  const rows: [string, string][] = [];
  if (!profile.isOmitted(box)) rows.push(['Self', figures(profile, profile.self[box]!)]);
  rows.push(['Total', figures(profile, profile.total[box]!)]);
  const isInside = profile.depth[box]! > profile.depth[zoomed]!;
  if (zoomed > 0 && isInside) rows.push(['Of zoomed', formatPercent(profile.total[box]!, profile.total[zoomed]!)]);
  if (profile.isOmitted(box)) rows.push(['Why', 'cut to keep the answer small']);
  if (profile.frame[box]! >= 0) rows.push(['Kind', KINDS[profile.kind(box)]!]);
  const source = profile.source(box);
  if (source !== '') rows.push(['Source', source]);
  return { title: profile.label(box), rows };
}

export function describe(profile: Profile, item: Item, zoomed: number): Description {
  if (!item.merged) return describeBox(profile, item.first, zoomed);
  return {
    title: mergedLabel(profile, item),
    rows: [
      ['Total', figures(profile, item.total)],
      ['Why', 'too narrow to draw apart; click to zoom in'],
    ],
  };
}

/** `com.acme.Cart.total, self 1.2 s, total 3.4 s, 12.3 %, java` */
export function sentence(profile: Profile, box: number): string {
  const { unit } = profile;
  const parts = [profile.label(box)];
  if (!profile.isOmitted(box)) parts.push(`self ${formatValue(profile.self[box]!, unit)}`);
  parts.push(`total ${formatValue(profile.total[box]!, unit)}`, formatPercent(profile.total[box]!, profile.total[0]!));
  if (profile.frame[box]! >= 0) parts.push(KINDS[profile.kind(box)]!);
  return parts.join(', ');
}
