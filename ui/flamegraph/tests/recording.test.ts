// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from 'vitest';
import { recordingInfo } from '../src/recording.ts';

describe('recordingInfo', () => {
  it('shows what it knows, in words and units', () => {
    const intervals = { cpu: '10000000', alloc_bytes: '524288' };
    const loss = { stackless_samples: 3, bad_events: 0, unknown_key: 9 };
    const info = recordingInfo(['checkout', 0, 0, 'shop.jar --fast', 'OpenJDK 21', 1769846400000, 0, intervals, loss, ['The last chunk is cut off.']]);
    expect(info).toEqual({
      title: 'checkout',
      facts: [
        ['From', '2026-01-31 08:00:00.000 UTC'],
        ['JVM', 'OpenJDK 21'],
        ['Program', 'shop.jar --fast'],
        ['Intervals', 'cpu 10 ms, alloc_bytes 512 KiB'],
        ['Left out', 'samples without a stack: 3'],
      ],
      notes: ['The last chunk is cut off.'],
    });
  });

  it('passes over everything that has another shape', () => {
    const nothing = { title: '', facts: [], notes: [] };
    expect(recordingInfo([7, 0, {}, [], null, 'x', -1, ['a'], null, [{}, 5], 'more'])).toEqual(nothing);
    expect(recordingInfo([0, 0, 0, 0, 0, 0, 1e300, 'cpu', { bad_events: '5' }, 'x'])).toEqual(nothing);
    expect(recordingInfo([])).toEqual(nothing);
  });

  it('shows hostile text as text', () => {
    expect(recordingInfo(['a\u202eb', 0, 0, 0, 0, 0, 0, 0, 0, ['\u0000']])).toMatchObject({ title: 'a\u27e8202E\u27e9b', notes: ['\u2400'] });
  });
});
