import { describe, expect, it } from 'vitest';
import { recordingInfo } from '../src/recording.ts';

describe('recordingInfo', () => {
  it('shows what it knows, in words and units', () => {
    const info = recordingInfo({
      title: 'checkout',
      jvm_version: 'OpenJDK 21',
      intervals: { cpu: '10000000', alloc_bytes: '524288' },
      loss: { stackless_samples: 3, bad_events: 0, unknown_key: 9 },
      notes: ['The last chunk is cut off.'],
    });
    expect(info).toEqual({
      title: 'checkout',
      facts: [
        ['JVM', 'OpenJDK 21'],
        ['Intervals', 'cpu 10 ms, alloc_bytes 512 KiB'],
        ['Left out', 'samples without a stack: 3'],
      ],
      notes: ['The last chunk is cut off.'],
    });
  });

  it('passes over everything that has another shape', () => {
    const odd = { title: 7, start_ns: 'x', end_ns: '99999999999999999999', intervals: ['a'], loss: null, notes: [{}, 5], java_args: [] };
    expect(recordingInfo(odd)).toEqual({ title: '', facts: [], notes: [] });
    expect(recordingInfo({ end_ns: '9999999999999999999', intervals: 'cpu', loss: { bad_events: '5' }, notes: 'x' }).notes).toEqual([]);
  });

  it('shows hostile text as text', () => {
    expect(recordingInfo({ title: 'a\u202eb', notes: ['\u0000'] })).toMatchObject({ title: 'a\u27e8202E\u27e9b', notes: ['\u2400'] });
  });
});
