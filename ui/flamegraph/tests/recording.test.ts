// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from 'vitest';
import { recordingInfo } from '../src/document/recording.ts';

describe('recordingInfo', () => {
  it('shows what it knows, in words and units', () => {
    const intervals = { cpu: '10000000', alloc_bytes: '524288', live_bytes: '524288', nativemem_bytes: '1024', lock_count: '1000000', other: '5' };
    const loss = { stackless_samples: 3, bad_events: 0, unknown_key: 9 };
    const said = { notes: ['The last chunk is cut off.'], not_counted: ['5 jdk.ThreadPark (idle waits)', '3 jdk.NativeMethodSample (in native code)'] };
    const info = recordingInfo({ title: 'checkout', java_args: 'shop.jar --fast', jvm_version: 'OpenJDK 21', start_ns: '1769846400000000000', intervals, loss, ...said });
    expect(info).toEqual({
      title: 'checkout',
      facts: [
        ['From', '2026-01-31 08:00:00.000 UTC'],
        ['JVM', 'OpenJDK 21'],
        ['Program', 'shop.jar --fast'],
        ['Intervals', 'cpu 10 ms, alloc_bytes 512 KiB, live_bytes 512 KiB, nativemem_bytes 1 KiB, lock_count 1 ms, other 5'],
        ['Left out', 'samples without a stack: 3'],
        ['Not counted by design', '5 jdk.ThreadPark (idle waits), 3 jdk.NativeMethodSample (in native code)'],
      ],
      notes: ['The last chunk is cut off.'],
    });
  });

  it('passes over everything that has another shape', () => {
    const nothing = { title: '', facts: [], notes: [] };
    const odd = { title: 7, engine: {}, java_args: [], jvm_version: null, start_ns: 'x', end_ns: -1, intervals: ['a'], loss: null, notes: [{}, 5], not_counted: [7], other: 'more' };
    expect(recordingInfo(odd)).toEqual(nothing);
    expect(recordingInfo({ end_ns: '9'.repeat(19), intervals: 'cpu', loss: { bad_events: '5' }, notes: 'x' })).toMatchObject({ notes: [] });
    expect(recordingInfo({})).toEqual(nothing);
  });

  it('shows hostile text as text', () => {
    expect(recordingInfo({ title: 'a\u202eb', notes: ['\u0000'] })).toMatchObject({ title: 'a\u27e8202E\u27e9b', notes: ['\u2400'] });
  });
});
