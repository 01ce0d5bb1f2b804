// SPDX-License-Identifier: Apache-2.0
// The names of a document's frames. All profiles of the document share the table.
import { frameName, visibleText } from '../text.ts';

export const KINDS = ['java', 'native', 'jvm', 'kernel', 'unknown'] as const;

/** One entry per frame; class, method and file are places in `strings`. */
export interface FrameColumns {
  strings: string[];
  cls: Int32Array;
  method: Int32Array;
  file: Int32Array;
  line: Int32Array;
  kind: Int32Array;
}

export class Frames {
  readonly count: number;
  private readonly labels: (string | undefined)[] = [];

  constructor(readonly columns: FrameColumns) {
    this.count = columns.cls.length;
  }

  kind(frame: number): number {
    return this.columns.kind[frame]!;
  }

  private text(column: 'cls' | 'method' | 'file', frame: number): string {
    return this.columns.strings[this.columns[column][frame]!]!;
  }

  /** Returns the class, or for frames of other kinds the library, as written in the document. */
  cls(frame: number): string {
    return this.text('cls', frame);
  }

  private named(frame: number, cls: string): string {
    return frameName(cls, this.text('method', frame), this.columns.line[frame]);
  }

  /** Returns a frame's key, which is the same in any document: the kind's number and the recorded name. */
  key(frame: number): string {
    return this.kind(frame) + this.named(frame, this.cls(frame));
  }

  /** Returns the frame of a key, or -1. */
  find(key: string): number {
    const kind = Number(key[0]);
    for (let frame = 0; frame < this.count; frame++) if (this.kind(frame) === kind && this.key(frame) === key) return frame;
    return -1;
  }

  /** Returns `com.acme.Cart.total`, made safe to show. */
  label(frame: number): string {
    return (this.labels[frame] ??= visibleText(this.named(frame, this.cls(frame))));
  }

  /** Returns the label without the package, or for frames of other kinds without the library: `Cart.total`. */
  shortLabel(frame: number): string {
    if (this.kind(frame) !== 0) return this.methodLabel(frame);
    const cls = this.cls(frame);
    return visibleText(this.named(frame, cls.slice(cls.lastIndexOf('.', cls.length - 2) + 1)));
  }

  /** Returns the method alone: `total`. */
  methodLabel(frame: number): string {
    return visibleText(this.named(frame, ''));
  }

  /** Returns `Cart.java:42`, `Cart.java` or an empty string. */
  source(frame: number): string {
    const file = visibleText(this.text('file', frame));
    const line = this.columns.line[frame]!;
    return file === '' || line === 0 ? file : `${file}:${line}`;
  }

  /** Returns each frame's rank among siblings, which are in the order of their names. */
  ranks(): Int32Array {
    const keys = Array.from({ length: this.count }, (_, frame) => this.named(frame, this.cls(frame)) + this.kind(frame));
    const order = keys.map((_, frame) => frame).sort((a, b) => (keys[a]! < keys[b]! ? -1 : keys[a]! > keys[b]! ? 1 : a - b));
    const ranks = new Int32Array(this.count);
    order.forEach((frame, rank) => (ranks[frame] = rank));
    return ranks;
  }
}
