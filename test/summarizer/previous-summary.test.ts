import { describe, expect, test } from 'vitest';
import { parsePreviousSummary, stripBullets } from '../../src/summarizer/previous-summary.js';

const read = (summary: string): [string, string][] =>
  parsePreviousSummary(summary).map(({ heading, text }) => [heading, text]);

describe('parsePreviousSummary', () => {
  test('reads back its own output', () => {
    expect(read('## Goal\n- Book a berth\n## Facts\n- Berth 12\n- Ref K-114')).toEqual([
      ['Goal', 'Book a berth'],
      ['Facts', 'Berth 12'],
      ['Facts', 'Ref K-114'],
    ]);
  });

  test('knows the headings in other dress', () => {
    expect(read('# GOAL:\n* a\n**Next steps:**\n1. b\nDecisions:\nc\nOpen questions\n• d')).toEqual([
      ['Goal', 'a'],
      ['Next steps', '1. b'],
      ['Decisions', 'c'],
      ['Open questions', 'd'],
    ]);
  });

  test('keeps a heading of another language, and lines under none as facts', () => {
    expect(read('Guest booked two berths.\n\n### Objetivo\n- Reservar')).toEqual([
      ['Facts', 'Guest booked two berths.'],
      ['Objetivo', 'Reservar'],
    ]);
  });

  test('drops nested bullets, decoration and repetitions', () => {
    expect(read('- - - a\n  - b\n---\n```\n- A\n\n|---|\n- b')).toEqual([
      ['Facts', 'a'],
      ['Facts', 'b'],
    ]);
  });

  test('takes a long paragraph sentence by sentence, all of it', () => {
    const sentence = 'The guest of berth 12 has paid EUR 18.20 and leaves at 09:40 with the first ferry.';
    const items = read(Array.from({ length: 6 }, (_, n) => `${n} ${sentence}`).join(' '));
    expect(items).toEqual(Array.from({ length: 6 }, (_, n) => ['Facts', `${n} ${sentence}`]));
  });
});

test.each([
  ['- a', 'a'],
  ['  * - a', 'a'],
  ['> quote', 'quote'],
  ['## title', 'title'],
  ['-5 degrees', '-5 degrees'],
  ['#42 is open', '#42 is open'],
  ['2. option', '2. option'],
  ['-', ''],
])('stripBullets(%j) is %j', (line, text) => {
  expect(stripBullets(line)).toBe(text);
});
