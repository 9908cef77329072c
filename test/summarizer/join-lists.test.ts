import { expect, test } from 'vitest';
import { joinLists } from '../../src/summarizer/join-lists.js';
import { splitSentences } from '../../src/summarizer/split-sentences.js';

const linesOf = (text: string): string[] => [...joinLists(splitSentences(text))].map((piece) => piece.text);

test('an announcement is joined with its list', () => {
  expect(linesOf('Option 2:\n- Departure: 17:00\n- Cabin: economy\nTell me which one.')).toEqual([
    'Option 2: Departure: 17:00; Cabin: economy',
    'Tell me which one.',
  ]);
});

test('a list that is too long for one line goes on in the next', () => {
  const item = `- ${'word '.repeat(24)}end`;
  const lines = linesOf([item, item, item].join('\n'));
  expect(lines.map(({ length }) => length)).toEqual([248, 123]);
});

test('text without lists stays as it is, markers and rules are left out', () => {
  expect(linesOf('one two\n[image]\n---\n[... 12,345 chars left out ...]\nthree')).toEqual([
    'one two',
    'three',
  ]);
});
