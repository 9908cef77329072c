import { expect, test } from 'vitest';
import type { Draft } from '../../src/summarizer/draft.js';
import { NearDuplicates } from '../../src/summarizer/near-duplicates.js';
import { Vocabulary } from '../../src/summarizer/salience.js';
import { measureDrafts } from '../../src/summarizer/score.js';

function isRepeated(first: string, second: string, isUsers = false): boolean {
  const vocabulary = new Vocabulary();
  const draft = (text: string): Draft => ({
    text,
    heading: 'Facts',
    message: 0,
    perMessage: 9,
    weight: 1,
    isTalk: true,
    isUsers,
  });
  const [known, next] = measureDrafts([draft(first), draft(second)], vocabulary);
  if (known === undefined || next === undefined) throw new Error('both drafts are measured');
  const duplicates = new NearDuplicates(vocabulary);
  duplicates.add(known);
  return duplicates.has(next);
}

const LONG =
  'the harbour office opens early each morning and closes late at night on all working days when ferries leave for any island with guests, crew, mail or freight aboard';

test('one more word does not make another sentence', () => {
  expect(isRepeated(LONG, `${LONG} indeed`)).toBe(true);
  expect(isRepeated('Berth is free', 'berth is Free!')).toBe(true);
});

test('another number does', () => {
  expect(isRepeated(`${LONG} 12`, `${LONG} 13`)).toBe(false);
});

test('one word of the user can turn the meaning', () => {
  expect(isRepeated(LONG, LONG.replace('all', 'no'), true)).toBe(false);
  expect(isRepeated(LONG, LONG, true)).toBe(true);
});
