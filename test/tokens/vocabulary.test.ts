import { countTokens } from 'gpt-tokenizer/encoding/o200k_base';
import { beforeAll, describe, expect, it } from 'vitest';
import { TokenTrie } from '../../src/tokens/token-trie.js';
import { loadVocabulary } from '../../src/tokens/vocabulary.js';
import { SAMPLES } from './samples.js';

let vocabulary: TokenTrie;

beforeAll(async () => {
  vocabulary = await loadVocabulary();
});

/** What is aimed at is 15%: samples of other texts than these may be further off. */
const MOST_OFF = 0.06;
const CHUNK = 2_000;

describe('the vocabulary', () => {
  it.each(Object.keys(SAMPLES))('counts %s nearly like the encoding', (name) => {
    const text = SAMPLES[name] ?? '';
    expect(text.length).toBeGreaterThanOrEqual(CHUNK);
    const off = (part: string) => vocabulary.count(part) / countTokens(part.toWellFormed()) - 1;
    expect(Math.abs(off(text))).toBeLessThan(MOST_OFF);
    for (let start = 0; start + CHUNK <= Math.min(text.length, 60_000); start += CHUNK) {
      const part = text.slice(start, start + CHUNK);
      expect(Math.abs(off(part)), part).toBeLessThan(0.15);
    }
  });

  it.each([
    ['', 0],
    ['Hello, world!', 4],
    ['The quick brown fox jumps over the lazy dog.', 10],
    ['你好，世界', 3],
    ['12345678', 3],
    ['{"a":[1,2,3]}', 9],
    ['\n\t\t\t"key": 1', 8],
    ['😀', 1],
  ])('counts %j as the encoding does: %i', (text, tokens) => {
    expect(vocabulary.count(text)).toBe(tokens);
    expect(countTokens(text)).toBe(tokens);
  });

  it('counts marks of the encoding as text', () => {
    expect(vocabulary.count('<|endoftext|>')).toBe(7);
  });

  it('counts half a surrogate pair like the replacement character', () => {
    expect(vocabulary.count('a\ud800b')).toBe(vocabulary.count('a\ufffdb'));
    expect(vocabulary.count('\udc00')).toBe(1);
  });

  it('is read once', async () => {
    expect(await loadVocabulary()).toBe(vocabulary);
  });

  it('takes time by the length of the text, however it is made', () => {
    const texts = [
      ' ',
      'a',
      '=',
      '中',
      '😀',
      '\ud800',
      '\n',
      `|${'-'.repeat(74)}\u0001`,
      ',最新高清无码专\u0001',
    ];
    for (const text of [...texts, ...Object.values(SAMPLES)]) {
      const long = text.repeat(Math.ceil(200_000 / text.length));
      const times = [1, 2, 3, 4, 5, 6, 7, 8].map(() => {
        const started = performance.now();
        vocabulary.count(long);
        return performance.now() - started;
      });
      expect(Math.min(...times) / (long.length / 10_000), text.slice(0, 20)).toBeLessThan(1);
    }
  });
});

describe('a trie of tokens', () => {
  it('takes the longest token, and single bytes where there is none', () => {
    const trie = new TokenTrie();
    for (const token of ['a', 'ab', 'abcd', ' ', '  ', 'é']) trie.add(Buffer.from(token));
    expect(trie.count('abcd')).toBe(1);
    expect(trie.count('abc')).toBe(2);
    expect(trie.count('aé')).toBe(2);
    expect(trie.count('ö')).toBe(2);
    expect(trie.count('   a')).toBe(3);
    expect(trie.count('  ')).toBe(1);
  });
});
