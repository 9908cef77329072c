import { beforeEach, describe, expect, it } from 'vitest';
import { TextMemo } from '../../src/tokens/text-memo.js';

/** 900 bytes each in the memo: two per char, and the entry. */
const text = (letter: string) => letter.repeat(400);

let computed: string[];
const compute = (given: string) => {
  computed.push(given.slice(0, 1));
  return given.length;
};

beforeEach(() => {
  computed = [];
});

describe('the memo of texts', () => {
  it('computes each long text once, and short ones each time', () => {
    const memo = new TextMemo(10_000);
    expect([memo.count(text('a'), compute), memo.count(text('a'), compute)]).toEqual([400, 400]);
    expect([memo.count('b', compute), memo.count('b', compute)]).toEqual([1, 1]);
    expect(computed).toEqual(['a', 'b', 'b']);
    expect(memo.bytes).toBe(900);
  });

  it('drops what was not used for longest', () => {
    const memo = new TextMemo(1_800);
    for (const letter of ['a', 'b', 'a', 'c', 'a', 'b']) memo.count(text(letter), compute);
    expect(computed).toEqual(['a', 'b', 'c', 'b']);
    expect(memo.bytes).toBe(1_800);
  });

  it('does not keep a text that is too big, nor drop others for it', () => {
    const memo = new TextMemo(1_000);
    for (const given of [text('a'), 'b'.repeat(500), text('a'), 'b'.repeat(500)]) memo.count(given, compute);
    expect(computed).toEqual(['a', 'b', 'b']);
    expect(memo.bytes).toBe(900);
  });
});
