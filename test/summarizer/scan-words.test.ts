import { describe, expect, test } from 'vitest';
import { scanWords } from '../../src/summarizer/scan-words.js';

const wordsOf = (text: string): string[] => scanWords(text).map((token) => token.text);
const signalOf = (text: string): number | undefined => scanWords(`and ${text}`)[1]?.signal;

describe('scanWords', () => {
  test('keeps numbers, times, amounts, identifiers, paths and addresses whole', () => {
    expect(
      wordsOf('At 09:40 pay 1,234.56 for K-114, see src/app.ts or https://x.test/a_b, mail a.b@c.test.'),
    ).toEqual([
      'At',
      '09:40',
      'pay',
      '1,234.56',
      'for',
      'K-114',
      'see',
      'src/app.ts',
      'or',
      'https://x.test/a_b',
      'mail',
      'a.b@c.test',
    ]);
  });

  test('segments scripts without spaces', () => {
    expect(wordsOf('予約番号はK-114です。')).toEqual(['予約', '番号', 'は', 'K-114', 'です']);
  });

  test.each([
    ['berth', 0],
    ['don’t', 0],
    ['and/or', 0],
    ['e.g', 0],
    ['Lisbon', 0.4],
    ['EUR', 0.7],
    ['12', 1],
    ['snake_case', 1],
    ['camelCase', 1],
    ['main.ts', 1],
    ['١٢', 1],
    ['a/b/c', 1.2],
    ['./lib/x', 1.2],
  ])('signal of %s is %d', (text, signal) => {
    expect(signalOf(text)).toBe(signal);
  });

  test('a word at the start of a sentence is no name', () => {
    expect(scanWords('Berth free')[0]?.signal).toBe(0);
  });

  test('long and random tokens are blobs, hashes and long paths are not', () => {
    const isBlob = (text: string): boolean | undefined => scanWords(text)[0]?.isBlob;
    expect(isBlob('a'.repeat(65))).toBe(true);
    expect(isBlob('aGVsbG8gd29ybGQhIHRoaXMgaXMgYmFzZTY0IGRh')).toBe(false);
    expect(isBlob('aGVsbG8gd29ybGQhIHRoaXMgaXMgYmFzZTY0IGRhdGE')).toBe(true);
    expect(isBlob('da39a3ee5e6b4b0d3255bfef95601890afd80709')).toBe(false);
    expect(isBlob(`home/${'directory/'.repeat(12)}file.ts`)).toBe(false);
  });
});
