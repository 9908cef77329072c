import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { cutText, squeeze } from '../../src/summarizer/cut-text.js';

describe('cutText', () => {
  test('leaves a text that fits as it is', () => {
    expect(cutText('berth 12', 8)).toBe('berth 12');
  });

  test('ends at a word boundary and never inside a number or a path', () => {
    expect(cutText('pay 1,234.56 now', 10)).toBe('pay…');
    expect(cutText('see /home/ada/app.ts', 12)).toBe('see…');
    expect(cutText('see the end', 8)).toBe('see the…');
  });

  test('ends between words of a script without spaces', () => {
    expect(cutText('予約番号は九時四十分です', 6)).toBe('予約番号は…');
    expect(cutText('予約しました。出発は九時です。', 9)).toBe('予約しました。…');
  });

  test('cuts a blob inside, but no surrogate pair', () => {
    expect(cutText('x'.repeat(300), 50)).toBe(`${'x'.repeat(49)}…`);
    expect(cutText('👍👍👍', 4)).toBe('👍…');
  });

  test('the tightest room', () => {
    expect(cutText('👍👍', 1)).toBe('…');
    expect(cutText('abc', 0)).toBe('');
  });

  test('fits, and stays well formed', () => {
    const text = fc.string({ unit: 'grapheme', minLength: 1 });
    fc.assert(
      fc.property(text, fc.integer({ min: 1, max: 40 }), (whole, maxChars) => {
        const cut = cutText(whole, maxChars);
        expect(cut.length).toBeLessThanOrEqual(maxChars);
        expect(cut.isWellFormed()).toBe(true);
        expect(cut).not.toBe('');
      }),
    );
  });
});

test('squeeze makes one line, without terminal colours', () => {
  expect(squeeze('  a\t\tb\r\n c \u2028d\u001b[31m ')).toBe('a b c d [31m');
});
