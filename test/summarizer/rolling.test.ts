import { describe, expect, test } from 'vitest';
import { extractSummary } from '../../src/summarizer/extract.js';
import { itemsUnder, type Line, transcriptOf } from './transcripts.js';

const FACTS = [
  'Please note that we are in berth 12.',
  'The booking ref is K-114.',
  'The ferry leaves at 09:40.',
  'The ticket costs EUR 18.20 each.',
  'Our contact is Marta Reis.',
  'The dog is called Bosun.',
  'The deck plan is at /docs/deck-plan.pdf.',
  'We arrive on 2024-06-14.',
];

function conversation(): Line[] {
  const role = (n: number): string => (n % 2 === 0 ? 'user' : 'assistant');
  const topics = ['weather', 'music', 'lunch', 'garden', 'films', 'hiking', 'bread', 'coffee'];
  const filler = Array.from(
    { length: 48 },
    (_, n): Line => [
      role(n),
      n % 2 === 0
        ? `Let us talk a little about ${topics[(n * 3) % 8]} now, since there is nothing else to do here.`
        : `Yes, ${topics[n % 8]} is a lovely subject. One can talk about it for hours in the evening.`,
    ],
  );
  return [...FACTS.map((text, n): Line => [role(n), text]), ...filler];
}

function foldIn(passes: number, messages: readonly Line[], maxChars: number): string[] {
  const size = Math.ceil(messages.length / passes);
  const summaries: string[] = [];
  for (let pass = 0; pass < passes; pass += 1) {
    summaries.push(
      extractSummary({
        previousSummary: summaries.at(-1) ?? null,
        transcript: transcriptOf(...messages.slice(pass * size, (pass + 1) * size)),
        instructions: null,
        maxChars,
      }),
    );
  }
  return summaries;
}

describe('passes', () => {
  test.each([2000, 900])('early facts survive 4 passes over 48 filler messages in %d chars', (maxChars) => {
    const last = foldIn(4, conversation(), maxChars).at(-1) ?? '';
    for (const fact of FACTS) expect(last).toContain(fact);
  });

  test('an empty pass changes nothing and wraps nothing', () => {
    const [first = ''] = foldIn(1, conversation(), 2000);
    const again = extractSummary({
      previousSummary: first,
      transcript: '',
      instructions: null,
      maxChars: 2000,
    });
    expect(again).toBe(first);
    expect(first).not.toContain('- -');
  });
});

describe('previous summaries of other writers', () => {
  const news = transcriptOf(
    ['user', 'And the boat Aurora needs 3 metres of water.'],
    ['assistant', 'Noted, 3 metres.'],
  );
  const carry = (previousSummary: string, maxChars = 2000, transcript = news): string =>
    extractSummary({ previousSummary, transcript, instructions: null, maxChars });

  test('every line of free text is carried on', () => {
    const summary = carry('Guest booked two berths.\n\nBerth 12 costs EUR 18.20\n* ref K-114');
    expect(itemsUnder(summary, 'Facts').slice(0, 3)).toEqual([
      'Guest booked two berths.',
      'Berth 12 costs EUR 18.20',
      'ref K-114',
    ]);
  });

  test('headings in another language stay', () => {
    const summary = carry('## Objetivo\n- Reservar o cais 12');
    expect(itemsUnder(summary, 'Objetivo')).toEqual(['Reservar o cais 12']);
  });

  test('the first user message of a later pass is no new goal', () => {
    expect(itemsUnder(carry('## Goal\n- Book berth 12'), 'Goal')).toEqual(['Book berth 12']);
  });

  test('a state that is overtaken becomes a fact', () => {
    const summary = carry('## In progress\n- Looking for a berth with 3 metres\n## Facts\n- Ref K-114');
    expect(itemsUnder(summary, 'In progress')).toEqual(['Noted, 3 metres.']);
    expect(itemsUnder(summary, 'Facts')).toEqual(['Ref K-114', 'Looking for a berth with 3 metres']);
  });

  test('a short answer settles the open question', () => {
    const summary = carry('## Open questions\n- Shall I take berth 12?', 2000, transcriptOf(['user', 'yes']));
    expect(summary).toBe('## Decisions\n- Shall I take berth 12? → yes');
  });

  test('the weakest lines fall when room runs out, old or new', () => {
    const chatter = Array.from(
      { length: 30 },
      (_, n) => `- and so on and so forth it goes ${'abcdefghij'[n % 10]}`,
    );
    const summary = carry(`## Goal\n- Book berth 12 for EUR 18.20\n## Facts\n${chatter.join('\n')}`, 300);
    expect(summary.length).toBeLessThanOrEqual(300);
    expect(summary).toContain('Book berth 12 for EUR 18.20');
    expect(summary).toContain('And the boat Aurora needs 3 metres of water.');
  });

  test('stays a summary when the transcript is blank', () => {
    expect(carry('Brief handoff.', 2000, '\n\n')).toBe('## Facts\n- Brief handoff.');
  });
});
