// SPDX-License-Identifier: Apache-2.0
// Finds the items of one row of the graph. The painter and the mouse both use it, so they always agree.
import { GROUP } from './layout.ts';
import type { Profile } from './profile.ts';

/** Narrower boxes are not drawn alone but merged with their neighbours, in CSS pixels. */
export const MIN_WIDTH = 0.5;
/** The widest gap within a merged block, in CSS pixels. */
const MAX_GAP = 1;

/** The values x0..x1 of the graph, shown over `width` CSS pixels. */
export interface Span {
  x0: number;
  x1: number;
  width: number;
}

/** A drawn box (`first` === `last`, not merged) or a merged block of boxes. Positions in CSS pixels, cut to the span. */
export interface Item {
  first: number;
  last: number;
  /** The index of `first` in rowBoxes; the block's boxes follow it. */
  index: number;
  count: number;
  total: number;
  merged: boolean;
  left: number;
  right: number;
}

/** Returns the index in rowBoxes of the first box of the row that ends after `value`. */
export function firstEndingAfter(profile: Profile, row: number, value: number): number {
  let low = profile.rowStart[row]!;
  let high = profile.rowStart[row + 1]!;
  while (low < high) {
    const middle = (low + high) >>> 1;
    const box = profile.rowBoxes[middle]!;
    if (profile.start[box]! + profile.total[box]! > value) high = middle;
    else low = middle + 1;
  }
  return low;
}

/**
 * Calls `visit` for each item of the row, from left to right. The item is reused: copy what must stay. Groups of boxes that are all too
 * narrow are looked at as one.
 */
export function visitRow(profile: Profile, row: number, span: Span, visit: (item: Item) => void): void {
  const { rowBoxes, start, total, groupTotal, groupWidest } = profile;
  const scale = span.width / (span.x1 - span.x0);
  const slack = (span.x1 - span.x0) * 1e-12;
  const rowEnd = profile.rowStart[row + 1]!;
  const item: Item = { first: -1, last: -1, index: 0, count: 0, total: 0, merged: false, left: 0, right: 0 };
  const block: Item = { ...item, merged: true };
  const flush = () => {
    if (block.count > 0) visit(block);
    block.count = 0;
  };
  for (let i = firstEndingAfter(profile, row, span.x0 + slack), count = 1; i < rowEnd; i += count) {
    const box = rowBoxes[i]!;
    const from = start[box]!;
    if (from >= span.x1 - slack) break;
    let last = box;
    let sum = total[box]!;
    count = 1;
    if (i % GROUP === 0 && i + GROUP <= rowEnd && groupWidest[i / GROUP]! * scale < MIN_WIDTH && start[rowBoxes[i + GROUP - 1]!]! < span.x1 - slack) {
      count = GROUP;
      last = rowBoxes[i + GROUP - 1]!;
      sum = groupTotal[i / GROUP]!;
    }
    if (sum === 0) continue;
    const left = Math.max(0, (from - span.x0) * scale);
    const right = Math.min(span.width, (start[last]! + total[last]! - span.x0) * scale);
    if (count === 1 && sum * scale >= MIN_WIDTH) {
      flush();
      item.first = item.last = box;
      item.index = i;
      item.count = 1;
      item.total = sum;
      item.left = left;
      item.right = right;
      visit(item);
      continue;
    }
    if (block.count > 0 && left - block.right > MAX_GAP) flush();
    if (block.count === 0) {
      block.first = box;
      block.index = i;
      block.left = left;
      block.total = 0;
    }
    block.last = last;
    block.right = right;
    block.count += count;
    block.total += sum;
  }
  flush();
}

/** Returns the item at `x`. An item thinner than a pixel owns the pixel that it is painted on, and a click one pixel beside it still hits it. */
export function itemAt(profile: Profile, row: number, span: Span, x: number): Item | null {
  if (row < 0 || row > profile.maxDepth) return null;
  const pixel = Math.floor(x);
  let thin: Item | null = null;
  let wide: Item | null = null;
  let near: Item | null = null;
  visitRow(profile, row, span, (item) => {
    if (item.right - item.left >= 1) {
      if (pixel + 0.5 >= item.left && pixel + 0.5 < item.right) wide = { ...item };
    } else if (Math.round(item.left) === pixel) thin = { ...item };
    else if (Math.abs(Math.round(item.left) - pixel) === 1) near = { ...item };
  });
  return thin ?? wide ?? near;
}
