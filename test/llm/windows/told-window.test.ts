import { expect, it } from 'vitest';
import { toldWindow } from '../../../src/llm/windows/told-window.js';

it.each<[string, number, number | null, number | null, { size: number; isScaled: boolean } | null]>([
  ['scaled up', 10_000, 2_048, 7_500, { size: 2_730, isScaled: true }],
  ['scaled down', 10_000, 8_192, 20_000, { size: 4_096, isScaled: true }],
  ['scaled by a fifth at least', 1_000, 2_000, 100_000, { size: 400, isScaled: true }],
  ['scaled by 5 at most', 100_000, 8_000, 9_000, { size: 40_000, isScaled: true }],
  ['as it is without a count', 10_000, 2_048, null, { size: 2_048, isScaled: false }],
  ['nothing when that is not below what was refused', 2_048, 2_048, null, null],
  ['nothing when the request would have fit', 10_000, 8_192, 8_000, null],
  ['nothing without a window', 10_000, null, 12_000, null],
  ['nothing for a window of 0', 10_000, 0, 12_000, null],
])('a window that a refusal names is %s', (_name, size, windowTokens, requestedTokens, expected) => {
  expect(toldWindow(size, { windowTokens, requestedTokens })).toEqual(expected);
});
