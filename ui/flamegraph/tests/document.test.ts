// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from 'vitest';
import { FormatError, parseDocument, readDocument } from '../src/document/document.ts';
import { cpuSample, largeSample, sequence, type SampleDocument, type SampleProfile } from './sample.ts';

const small = () => cpuSample({ 'a.B.run;a.C.work': 60, 'a.B.run': 10 });

function refusal(change: (document: SampleDocument, profile: SampleProfile) => void): string {
  const document = small();
  change(document, document.profiles[0]!);
  try {
    readDocument(document);
  } catch (error) {
    expect(error).toBeInstanceOf(FormatError);
    return (error as Error).message;
  }
  return 'accepted';
}

describe('readDocument', () => {
  it('reads types, totals and nodes', () => {
    const { profiles } = readDocument(small());
    expect(profiles).toHaveLength(1);
    expect(profiles[0]!.type).toBe('cpu');
    expect(profiles[0]!.nodeCount).toBe(3);
    expect(profiles[0]!.valueTotal).toBe('70');
  });

  it('keeps decimal strings beyond the range of numbers', () => {
    const document = small();
    document.profiles[0]!.raw_total = '18446744073709551617';
    expect(readDocument(document).profiles[0]!.rawTotal).toBe('18446744073709551617');
  });

  it('ignores keys that it does not know', () => {
    expect(readDocument({ ...small(), later: true }).profiles).toHaveLength(1);
  });

  it('accepts a lone root without samples', () => {
    expect(readDocument(cpuSample({})).profiles[0]!.total[0]).toBe(0);
  });

  it.each<[string, (document: SampleDocument, profile: SampleProfile) => void, string]>([
    ['another version', (d) => (d.version = 1), 'version is 1; this reader knows version 2'],
    ['no string table', (d) => delete (d as Partial<SampleDocument>).strings, 'strings is not an array'],
    ['a string table without the empty string', (d) => (d.strings[0] = 'x'), 'strings[0] is not the empty string'],
    ['no profile', (d) => (d.profiles = []), 'profiles is empty'],
    ['columns of unequal length', (_, p) => p.nodes.self.pop(), 'profiles[0].nodes.self has 2 entries where 3 belong'],
    ['a string index out of range', (d) => (d.frames.method[0] = 99), 'frames.method[0] is not an integer from 0 to'],
    ['a frame index out of range', (_, p) => (p.nodes.frame[1] = 7), 'profiles[0].nodes.frame[1] is not an integer from -1 to 1'],
    ['a second root', (_, p) => (p.nodes.depth[2] = 0), 'profiles[0].nodes.depth[2] is 0 after 1'],
    ['a depth that jumps', (_, p) => (p.nodes.depth[1] = 2), 'profiles[0].nodes.depth[1] is 2 after 0'],
    ['a node without frame', (_, p) => (p.nodes.frame[2] = -1), 'profiles[0].nodes.frame[2] is -1 and not the root'],
    ['a negative value', (_, p) => (p.nodes.self[1] = -5), 'profiles[0].nodes.self[1] is not a number of 0 or more'],
    ['a value that is text', (_, p) => ((p.nodes.self as unknown[])[1] = '70'), 'profiles[0].nodes.self[1] is not a number'],
    ['a total that is not decimal', (_, p) => (p.raw_total = '1e9'), 'profiles[0].raw_total is not a decimal string'],
    ['an omitted block twice', (_, p) => (p.omitted = { node: [0, 0], total: [0, 0], count: [1, 1] }), 'names a node twice'],
    ['a kind from nowhere', (d) => (d.frames.kind[0] = 5), 'frames.kind[0] is not an integer from 0 to 4'],
    ['a comparison whose omitted blocks have one side', (_, p) => (p.nodes.before = [0, 0, 0]), 'profiles[0].omitted.before is not an array'],
    ['a change of no frame', (_, p) => (p.changes = [[9, 1, 2]]), 'profiles[0].changes[0] is not a frame and its shares'],
    ['a change without a share', (_, p) => (p.changes = [[0, 1]]), 'profiles[0].changes[0] is not a frame and its shares'],
    ['no nodes', (_, p) => (p.nodes = { depth: [], frame: [], self: [] }), 'node 0 must be the root'],
  ])('refuses %s', (_, change, message) => {
    expect(refusal(change)).toContain(message);
  });

  it.each([[null], [[]], ['x'], [7]])('refuses %j as a document', (value) => {
    expect(() => readDocument(value)).toThrow('the document is not an object');
  });

  it('reads what the C exporter writes', () => {
    const { profiles } = parseDocument(
      '{"version":2,"strings":["","com.acme.Main","run","F.java"],"frames":{"class":[1],"method":[2],"file":[3],"line":[0],"kind":[0]},' +
        '"profiles":[{"type":"cpu","unit":"ns","raw_total":"29","value_total":"30","samples":1,"nodes":{"depth":[0,1],' +
        '"frame":[-1,0],"self":[0,30]},"omitted":{"node":[],"total":[],"count":[]}}],"meta":{}}',
    );
    expect([profiles[0]!.label(1), profiles[0]!.source(1), profiles[0]!.rawTotal]).toEqual(['com.acme.Main.run', 'F.java', '29']);
  });

  it('refuses or accepts any damage, and never fails otherwise', () => {
    const random = sequence(11);
    const pick = <T>(list: T[]): T => list[Math.floor(random() * list.length)]!;
    const junk = () => pick<unknown>([null, -1, 0, 1, 2 ** 31, 2 ** 53, 1e308, NaN, Infinity, 0.5, '', 'x', [], {}, true, undefined]);
    const whole = JSON.stringify(largeSample(60, 8));
    for (let round = 0; round < 3000; round++) {
      const document = JSON.parse(whole) as SampleDocument;
      let at = document as unknown as Record<string, unknown>;
      for (let depth = 0; depth < 6; depth++) {
        const key = pick(Object.keys(at));
        const next = at[key];
        if (typeof next !== 'object' || next === null || Object.keys(next).length === 0 || random() < 0.1) {
          at[key] = junk();
          break;
        }
        at = next as Record<string, unknown>;
      }
      try {
        readDocument(document);
      } catch (error) {
        expect(error).toBeInstanceOf(FormatError);
      }
    }
  });

  it('says where a text stops being JSON', () => {
    expect(() => parseDocument('{"version":2,')).toThrow(/the text is not JSON: /);
  });
});
