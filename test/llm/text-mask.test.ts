import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { TextMask } from '../../src/llm/text-mask.js';

const MASK = new TextMask(['abcabd', 'abcab', 'cde-e.f(']);

const streamed = (mask: TextMask, pieces: readonly string[]): string => {
  const stream = mask.stream();
  return pieces.map((piece) => stream.take(piece)).join('') + stream.end();
};

describe('words taken out of a text', () => {
  it.each([
    ['x abcab y', 'x [REDACTED] y'],
    ['abcabd', '[REDACTED]'],
    ['abcabcab', '[REDACTED]cab'],
    ['cde-e.f(', '[REDACTED]'],
    ['cde_eXf(', 'cde_eXf('],
  ])('%s becomes %s, whole or char by char', (text, expected) => {
    expect(MASK.whole(text)).toBe(expected);
    expect(streamed(MASK, [...text])).toBe(expected);
  });

  it('shows what cannot belong to a word at once', () => {
    const stream = MASK.stream();
    expect(stream.take('Hello ')).toBe('Hello ');
    expect(stream.take('xab')).toBe('x');
    expect(stream.take('out')).toBe('about');
    expect(stream.take('abcab')).toBe('');
    expect(stream.take('!')).toBe('[REDACTED]!');
    expect(stream.take('a')).toBe('');
    expect(stream.end()).toBe('a');
  });

  it('comes to the same however the text is cut', () => {
    const letters = fc.array(fc.constantFrom('a', 'b', 'c', 'd', 'ab', 'abcab', 'x', 'cde-e.f('), {
      maxLength: 30,
    });
    fc.assert(
      fc.property(fc.array(letters), (pieces) => {
        const texts = pieces.map((piece) => piece.join(''));
        expect(streamed(MASK, texts)).toBe(MASK.whole(texts.join('')));
      }),
    );
  });

  it('without words, passes everything on', () => {
    const none = new TextMask([]);
    expect(none.whole('abc')).toBe('abc');
    expect(none.stream().take('abc')).toBe('abc');
  });
});

describe('words in other spellings', () => {
  const KEY = 'Zq7Xw9Kp3TbNv5Rm';
  const mask = new TextMask([KEY]);
  const each = (write: (char: string) => string) => [...KEY].map(write).join('');
  const hex = (char: string) => char.charCodeAt(0).toString(16);

  it.each([
    ['lower case', KEY.toLowerCase()],
    ['upper case', KEY.toUpperCase()],
    ['JSON escapes', each((char) => `\\u00${hex(char)}`)],
    ['JSON escapes in a JSON string', each((char) => `\\\\u00${hex(char).toUpperCase()}`)],
    ['one escape', `\\u005a${KEY.slice(1)}`],
    ['one escape in the middle', `${KEY.slice(0, 5)}\\x${hex(KEY.charAt(5))}${KEY.slice(6)}`],
    ['percent', each((char) => `%${hex(char)}`)],
    ['percent twice', each((char) => `%25${hex(char)}`)],
    ['HTML', each((char) => `&#${char.charCodeAt(0)};`)],
    ['HTML in hex', each((char) => `&#x${hex(char)};`)],
    ['a NUL inside', `${KEY.slice(0, 10)}\0${KEY.slice(10)}`],
    ['zero width everywhere', each((char) => `${char}\u200b\u2060`).slice(0, -2)],
    ['half a surrogate pair inside', `${KEY.slice(0, 3)}\ud800${KEY.slice(3)}`],
    ['many of them inside', `${KEY.slice(0, 3)}${'\u00ad'.repeat(5_000)}${KEY.slice(3)}`],
  ])('%s', (_name, spelt) => {
    const text = `a ${spelt} b, ${spelt}`;
    expect(mask.whole(text)).toBe('a [REDACTED] b, [REDACTED]');
    expect(streamed(mask, text.split(''))).toBe('a [REDACTED] b, [REDACTED]');
    expect(mask.cut(text.slice(0, -1))).toBe('a [REDACTED] b, [REDACTED]');
  });

  it('leave everything else as it is, gaps too', () => {
    const broken = `${KEY.slice(0, 8)}\r\n${KEY.slice(8)} ${KEY.slice(0, 8)}\t${KEY.slice(8)}`;
    const text = `Zq7X w9Kp\u200b3 \\u005a %5a ${KEY.slice(0, -1)} ${broken} \0\n`;
    expect(mask.whole(text)).toBe(text);
    expect(streamed(mask, [...text])).toBe(text);
  });

  it('are found through blanks where that is wanted', () => {
    const spaced = [...KEY].join('  ');
    expect(mask.whole(spaced)).toBe(spaced);
    expect(new TextMask([KEY], 'blank').whole(`a ${spaced} b`)).toBe('a [REDACTED] b');
    expect(new TextMask(['two words'], 'blank').whole('a TWO\nwords, twowords two%20words b')).toBe(
      'a [REDACTED], [REDACTED] [REDACTED] b',
    );
  });

  it('are taken away where a text was cut in one, from eight chars on', () => {
    const cuts = [1, 7, 8, 15].map((length) => mask.cut(`a ${KEY.slice(0, length)}`));
    expect(cuts).toEqual(['a Z', 'a Zq7Xw9K', 'a [REDACTED]', 'a [REDACTED]']);
  });

  it.each(['\\', '\\u005', '%', '&#', 'Zq', 'Zq7Xw9Kp3TbNv5R', '\\u005a', 'a\n', '\0', 'Z\0'])(
    'cost no more than their length in a text of many %j',
    (part) => {
      const text = part.repeat(Math.floor(1_000_000 / part.length));
      const start = performance.now();
      mask.whole(text);
      expect(performance.now() - start).toBeLessThan(1_000);
    },
  );

  it.each(['ordinary words, Zebras and 5 more; ', 'Zq', 'Zq7Xw9Kp3TbNv5R', '\\n', '\u00e9t\u00e9 '])(
    'cost no more than their length in a stream of many %j',
    (part) => {
      const pieces = Array.from({ length: 25_000 }, () => part.repeat(40).slice(0, 40));
      const start = performance.now();
      expect(streamed(mask, pieces)).toBe(pieces.join(''));
      expect(performance.now() - start).toBeLessThan(1_000);
    },
  );
});
