// SPDX-License-Identifier: Apache-2.0
// Groups a heatmap's buckets into cells: columns of a round length of time, aligned to the clock, with rows within each.
import type { Heat } from '../document/heat.ts';

const MAX_ROWS = 50;
/** The least width of a column and, where time allows it, the largest. CSS pixels. */
const MIN_WIDTH = 4;
const MAX_WIDTH = 38;
const MAX_HEIGHT = 18;
const HEIGHT = 200;

/** Lengths that columns and their labels can have, ms. */
const ROUND = [100, 200, 500, ...[1, 2, 5, 10, 20, 30, 60, 120, 300, 600, 1200, 1800, 3600, 7200, 10800, 21600, 43200, 86400, 172800, 604800].map((seconds) => seconds * 1000)];

const isMultiple = (of: number, value: number) => Math.abs(of / value - Math.round(of / value)) < 1e-9;

export class HeatGrid {
  readonly columns: number;
  readonly rows: number;
  /** Length of a column in ms. */
  readonly length: number;
  readonly cellWidth: number;
  readonly cellHeight: number;
  /** Buckets of a cell. */
  readonly buckets: number;
  /** The bucket at which the first cell begins; it can lie before bucket 0. */
  readonly base: number;
  /** By cell, column by column: its sum, NaN where nothing was recorded, -1 beside the map. */
  readonly cells: Float64Array;
  readonly most: number;

  /** Groups the buckets from `from` to before `to`, for a given size in pixels. */
  constructor(
    readonly heat: Heat,
    readonly from: number,
    readonly to: number,
    width: number,
  ) {
    const { step, origin } = heat;
    const time = (to - from) * step;
    const room = Math.max(1, Math.floor(width / MIN_WIDTH) - 1);
    // From half a minute on columns are seconds; a shorter recording is not drawn as a few bars.
    const least = time >= 30_000 ? 1000 : 10 * step;
    const fits = (length: number) => isMultiple(length, step) && length >= least && time / length <= room;
    this.length = ROUND.find(fits) ?? step * Math.ceil(time / step / room / MAX_ROWS) * MAX_ROWS;
    const buckets = Math.round(this.length / step);
    let each = Math.ceil(buckets / MAX_ROWS);
    while (buckets % each > 0) each++;
    this.buckets = each;
    this.rows = buckets / each;
    const first = Math.round(origin / step);
    this.base = Math.floor((first + from) / buckets) * buckets - first;
    this.columns = Math.ceil((to - this.base) / buckets);
    this.cellWidth = Math.min(MAX_WIDTH, Math.max(1, Math.floor(width / this.columns)));
    this.cellHeight = Math.min(MAX_HEIGHT, Math.max(3, Math.floor(HEIGHT / this.rows)));
    this.cells = new Float64Array(this.columns * this.rows).fill(heat.spans.length > 0 ? NaN : 0);
    this.fill();
    this.most = this.cells.reduce((most, value) => (value > most ? value : most), 0);
  }

  private fill(): void {
    const { cells, heat, from, to } = this;
    const { spans, sums, step } = heat;
    for (let i = 0; i < spans.length; i += 2) {
      const last = Math.min(to, Math.ceil(spans[i + 1]! / step)) - 1;
      const start = Math.max(from, Math.floor(spans[i]! / step));
      if (start <= last) cells.fill(0, this.cellOf(start), this.cellOf(last) + 1);
    }
    for (let bucket = from; bucket < to; bucket++) {
      const cell = this.cellOf(bucket);
      if (sums[bucket]! > 0) cells[cell] = (cells[cell]! || 0) + sums[bucket]!;
    }
    // Cells outside the stretch are no part of the map.
    cells.fill(-1, 0, this.cellOf(from));
    cells.fill(-1, this.cellOf(to - 1) + 1);
  }

  cellOf(bucket: number): number {
    return Math.floor((bucket - this.base) / this.buckets);
  }

  /** Returns the first bucket of a cell, within the map. */
  bucketOf(cell: number): number {
    return Math.min(this.to, Math.max(this.from, this.base + cell * this.buckets));
  }

  /** Returns the UTC time of a bucket, ms. */
  time(bucket: number): number {
    return this.heat.origin + bucket * this.heat.step;
  }

  /** Columns that get a label, as their times, so that labels of `width` pixels stand apart. */
  ticks(width: number): { column: number; time: number; spacing: number }[] {
    const spacing = ROUND.find((length) => isMultiple(length, this.length) && (length / this.length) * this.cellWidth >= width) ?? this.length * Math.ceil(width / this.cellWidth);
    const start = this.time(this.base);
    const result = [];
    for (let time = Math.ceil(start / spacing) * spacing; time < start + this.columns * this.length; time += spacing) {
      result.push({ column: Math.round((time - start) / this.length), time, spacing });
    }
    return result;
  }
}

/** Returns `09:15:20`, with as many digits of the second as `exact` ms need. */
export function clockTime(time: number, exact: number): string {
  const text = new Date(Math.round(time)).toISOString();
  return text.slice(11, exact % 1000 === 0 ? 19 : exact % 100 === 0 ? 21 : 23);
}

export function clockDate(time: number): string {
  return new Date(Math.round(time)).toISOString().slice(0, 10);
}
