// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from 'vitest';
import { formatDecimal, formatPercent, formatValue, groupDigits, typeName } from '../src/format.ts';
import { shorten, visibleText } from '../src/text.ts';

describe('formatValue', () => {
  it.each([
    [0, 'ns', '0 ns'],
    [999, 'ns', '999 ns'],
    [1500, 'ns', '1.5 \u00b5s'],
    [70_000_000, 'ns', '70 ms'],
    [12_340_000_000, 'ns', '12.3 s'],
    [90e9, 'ns', '1.5 min'],
    [7200e9, 'ns', '2 h'],
    [512, 'bytes', '512 B'],
    [1536, 'bytes', '1.5 KiB'],
    [3 * 2 ** 30, 'bytes', '3 GiB'],
    [1234, 'count', '1,234'],
    [2_500_000, 'count', '2.5 M'],
    [7, 'cats', '7 cats'],
    [NaN, 'ns', '?'],
  ])('%d %s is %s', (value, unit, expected) => {
    expect(formatValue(value, unit)).toBe(expected);
  });

  it('reads decimal strings beyond exact numbers', () => {
    expect(formatDecimal('36000000000000000000', 'ns')).toBe('10000000 h');
  });
});

describe('formatPercent', () => {
  it.each([
    [0, 10, '0 %'],
    [1, 1e9, '< 0.01 %'],
    [1, 81, '1.23 %'],
    [123, 1000, '12.3 %'],
    [999_999, 1_000_000, '> 99.99 %'],
    [10, 10, '100 %'],
    [5, 0, '0 %'],
  ])('%d of %d is %s', (part, whole, expected) => {
    expect(formatPercent(part, whole)).toBe(expected);
  });
});

describe('text', () => {
  it('groups digits without losing one', () => {
    expect(groupDigits('18446744073709551617')).toBe('18,446,744,073,709,551,617');
    expect(groupDigits('7')).toBe('7');
  });

  it.each([
    ['plain', 'plain'],
    ['a\nb\u007f', 'a\u240ab\u2421'],
    ['\u202egnp.exe', '\u27e8202E\u27e9gnp.exe'],
    ['a\u200bb', 'a\u27e8200B\u27e9b'],
    ['\ud800x', '\u27e8D800\u27e9x'],
    ['x\udc00', 'x\u27e8DC00\u27e9'],
    ['\u{1f525} \u00e9', '\u{1f525} \u00e9'],
    ['</script><b>', '</script><b>'],
  ])('shows %j as %j', (text, expected) => {
    expect(visibleText(text)).toBe(expected);
  });

  it('shortens in the middle', () => {
    expect(shorten('abcdefghij', 7)).toBe('ab\u2026ghij');
    expect(shorten('abc', 7)).toBe('abc');
  });

  it('does not take a type name from Object', () => {
    expect(typeName('constructor')).toBe('constructor');
    expect(typeName('alloc_bytes')).toBe('Allocated bytes');
  });
});
