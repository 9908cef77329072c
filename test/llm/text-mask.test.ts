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
