// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from 'vitest';
import { readDocument } from '../src/document.ts';
import { Frames } from '../src/frames.ts';
import { layout } from '../src/layout.ts';
import { Code, readPacked } from '../src/packed.ts';
import { Profile } from '../src/profile.ts';
import { Coder, pack, packedText } from './pack.ts';
import { cpuSample, largeSample, sample, sequence, type SampleDocument } from './sample.ts';

const read = (document: SampleDocument, ...more: unknown[]) => readPacked(packedText(pack(document, ...(more as []))));

function profileOf(document: SampleDocument, at = 0): Profile {
  const { frames, profile } = read(document);
  const { head, columns } = profile(at);
  return new Profile(head, new Frames(frames), layout(columns));
}

/** All that a picture shows of a profile. */
const picture = (profile: Profile) =>
  Array.from({ length: profile.boxCount }, (_, box) => [profile.depth[box], profile.label(box), profile.kind(box), profile.self[box], profile.total[box], profile.start[box]]);

describe('packed numbers', () => {
  const random = sequence(3);
  const numbers = Array.from({ length: 20_000 }, () => Math.floor(2 ** (random() * 53)));
  const packed = (all: number[]) => {
    const coder = new Coder();
    all.forEach((value, i) => coder.number(i % 4, value));
    return coder.text();
  };

  it.each([
    ['few', [0, 1, 69, 70, 2 ** 31, 2 ** 53 - 2]],
    ['none', []],
    ['random', numbers],
    ['equal', numbers.map(() => 7)],
    ['with surprises', numbers.map((value, i) => (i % 500 === 0 ? value : 0))],
  ])('are read as they were written: %s', (_, all) => {
    const code = new Code(packed(all));
    expect(all.map((_, i) => code.next(i % 4))).toEqual(all);
    expect(() => code.end()).not.toThrow();
  });

  it('get shorter the more they are alike', () => {
    expect(packed(numbers.map(() => 7)).length).toBeLessThan(numbers.length / 20);
    expect(packed(numbers.map((value) => value % 2)).length).toBeLessThan(numbers.length / 5);
  });

  it('hold nothing that could end a script, a string or a comment', () => {
    expect(packed(numbers)).toMatch(/^[^<"\\\s]+$/);
  });

  it('are refused when there are more or fewer', () => {
    const text = packed(numbers);
    const read = (of: string) => {
      const code = new Code(of);
      numbers.forEach((_, i) => code.next(i % 4));
      code.end();
    };
    for (const damaged of [text.slice(0, -8), `${text}#`.repeat(2), `${text}<`, '', '\u20ac'.repeat(9)]) expect(() => read(damaged)).toThrow('damaged code');
  });
});

describe('readPacked', () => {
  it('shows what the document of version 1 shows', () => {
    const document = largeSample(5_000);
    const profile = document.profiles[0]!;
    const rich = profile.nodes.self.flatMap((self, node) => (self > 1000 ? [node] : [])).slice(0, 40);
    profile.omitted = { node: rich, total: rich.map((_, i) => i * 20), count: rich.map((_, i) => i + 1) };
    rich.forEach((node, i) => (profile.nodes.self[node]! -= i * 20));
    expect(picture(profileOf(document))).toEqual(picture(readDocument(document).profiles[0]!));
  });

  it('keeps several profiles over one table of frames', () => {
    const document = sample({ cpu: { unit: 'ns', stacks: { 'a.B.run;native:libc.so!read': 3 } }, alloc_bytes: { unit: 'bytes', stacks: { 'a.B.run': 2, 'a.C.x': 1 } } });
    expect(picture(profileOf(document, 1))).toEqual(picture(readDocument(document).profiles[1]!));
    expect(read(document).frames.cls).toHaveLength(3);
  });

  it('decodes a profile when it is asked for, and nothing behind what is damaged', () => {
    const stacks = { 'a.B.run;a.C.x': 3 };
    const packed = pack(sample({ cpu: { unit: 'ns', stacks }, alloc_bytes: { unit: 'bytes', stacks }, lock_delay: { unit: 'ns', stacks } }));
    const whole = readPacked(packedText(packed));
    expect(whole.types).toEqual(['cpu', 'alloc_bytes', 'lock_delay']);
    expect(picture(new Profile(whole.profile(2).head, new Frames(whole.frames), layout(whole.profile(2).columns)))).toHaveLength(3);
    Object.assign((packed['profiles'] as object[])[1]!, { samples: 'many' });
    const damaged = readPacked(packedText(packed));
    expect(damaged.profile(0).head.valueTotal).toBe('3');
    for (const at of [1, 2, 1]) expect(() => damaged.profile(at)).toThrow('samples is no integer');
    expect(damaged.profile(0).columns.depth).toHaveLength(3);
  });

  it('takes class and method apart as they were, whatever they hold', () => {
    const document = cpuSample({ 'a.B.run': 1 });
    document.strings.push('odd', 'me.th!od', 'lib!v2', 'f');
    Object.assign(document.profiles[0]!, {
      frames: { class: [3, 5, 0], method: [4, 6, 4], file: [0, 0, 0], line: [0, 0, 0], kind: [0, 1, 0] },
      nodes: { depth: [0, 1, 2, 3], frame: [-1, 0, 1, 2], self: [0, 0, 0, 1], total: [1, 1, 1, 1] },
    });
    const { frames } = profileOf(document);
    const parts = Array.from({ length: 3 }, (_, frame) => [frames.cls(frame), frames.methodLabel(frame)]);
    expect(parts).toEqual(expect.arrayContaining([['odd', 'me.th!od'], ['lib!v2', 'f'], ['', 'me.th!od']]));
  });

  it('keeps to the names when a line of them is no string', () => {
    const [json, ...lines] = packedText(pack(cpuSample({ 'a.B.run;native:libc.so!read': 1 }))).split('\n');
    expect(lines).toEqual(['libc.so', 'a.B.run', 'read']);
    for (const line of ['a","b', 'a",1,"b', 'a"', '\\']) expect(() => readPacked([json, 'libc.so', line, 'read'].join('\n'))).toThrow(Error);
    expect(() => readPacked([json, 'libc.so', 'a.B.run'].join('\n'))).toThrow('damaged code at');
    expect(() => readPacked([json, ...lines, 'more'].join('\n'))).toThrow('damaged code at');
  });

  it('finds names within those of other lines', () => {
    const stacks = { 'a.B.match;a.B.match0': 1, 'a.B.match;kernel:futex_wait;kernel:do_futex_wait_v': 2, 'kernel:futex_wait;kernel:schedule;a.B.matchAll': 3, 'kernel:__schedule': 4 };
    const packed = pack(cpuSample(stacks));
    expect(packed['names']).not.toContain('a.B.match');
    expect(packed['names']).not.toContain('schedule');
    expect(picture(profileOf(cpuSample(stacks)))).toEqual(picture(readDocument(cpuSample(stacks)).profiles[0]!));
  });

  it('reads both sides of a comparison', () => {
    const document = cpuSample({ 'a.A.f': 30, 'a.B.g': 0 });
    const { sides, total } = layout(read(document, [[0, 10, 20]]).profile(0).columns);
    expect([...sides!.before]).toEqual([30, 10, 20]);
    expect([...sides!.after]).toEqual([30, 30, 0]);
    expect([...total]).toEqual([30, 20, 10]);
  });

  it('refuses or accepts any damage, and never fails otherwise', () => {
    const random = sequence(5);
    const whole = packedText(pack(largeSample(300, 9)));
    const data = whole.indexOf('"data"');
    let refused = 0;
    for (let round = 0; round < 1000; round++) {
      const at = round % 2 === 0 ? data + 8 + Math.floor(random() * 900) : Math.floor(random() * whole.length);
      const text = whole.slice(0, at) + String.fromCharCode(35 + Math.floor(random() * 90)) + whole.slice(at + 1);
      try {
        const packed = readPacked(text);
        const { head, columns } = packed.profile(0);
        const profile = new Profile(head, new Frames(packed.frames), layout(columns));
        expect(profile.total[0]).toBeGreaterThanOrEqual(0);
      } catch (error) {
        refused++;
        expect(error).toBeInstanceOf(Error);
        expect(error).not.toBeInstanceOf(RangeError);
      }
    }
    expect(refused).toBeGreaterThan(200);
  }, 120_000);
});
