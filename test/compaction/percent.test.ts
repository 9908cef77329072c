import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isPercent, shareOf, usablePercent } from '../../src/compaction/percent.js';

describe('isPercent', () => {
  it.each([1, 99, 50, 33.3, 66.666667, 1.000001])('accepts %d', (value) => {
    expect(isPercent(value)).toBe(true);
  });

  it.each([0, 0.5, 99.000001, 100, 101, 1e9, -5, 33.3333333, Number.NaN, Number.POSITIVE_INFINITY, 1e-7])(
    'refuses %d',
    (value) => {
      expect(isPercent(value)).toBe(false);
    },
  );
});

describe('shareOf', () => {
  it.each([
    [100, 14, 14],
    [100, 29, 29],
    [1000, 33.3, 333],
    [7, 50, 3],
    [6, 14, 0],
    [3, 99, 2],
    [0, 50, 0],
    [9_007_199_254_740_991, 99, 8_917_127_262_193_581],
    [1_000_000, 1.000001, 10_000],
  ])('of %d, %d percent is %d', (total, percent, share) => {
    expect(shareOf(total, percent)).toBe(share);
  });

  it('is the floor of the exact product', () => {
    const percents = fc.integer({ min: 1_000_000, max: 99_000_000 });
    fc.assert(
      fc.property(fc.maxSafeNat(), percents, (total, millionths) => {
        const exact = (BigInt(total) * BigInt(millionths)) / 100_000_000n;
        expect(BigInt(shareOf(total, millionths / 1_000_000))).toBe(exact);
      }),
    );
  });

  it('refuses what is no percent', () => {
    expect(() => shareOf(100, 100)).toThrow(RangeError);
  });
});

describe('a stored percent', () => {
  it.each([
    [33.3, 33.3],
    [0, 50],
    [100, 50],
    [-5, 50],
    [33.33333333, 50],
    [Number.NaN, 50],
  ])('of %d is used as %d', (stored, used) => {
    expect(usablePercent(stored)).toBe(used);
  });
});
