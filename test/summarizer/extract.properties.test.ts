import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type ExtractRequest, extractSummary } from '../../src/summarizer/extract.js';
import { transcriptOf } from './transcripts.js';

const label = fc.constantFrom(
  'user',
  'user (ann)',
  'assistant',
  'assistant calls get_hours',
  'result of get_hours',
  'tool result',
  'image',
);
const fragment = fc.constantFrom(
  'berth 12 ',
  'ref K-114. ',
  'Shall I? ',
  '\n',
  '\n\n',
  '- item\n',
  'Options:\n',
  '## Goal\n',
  '```\n',
  '[image]\n',
  '漢字かな。',
  'مرحبا؟ ',
  'ภาษาไทย',
  '👍🏽',
  'x'.repeat(450),
  'QUJD'.repeat(60),
  '\u2028',
  '\u001b[31m',
);
const text = fc.oneof(
  fc.array(fragment, { maxLength: 25 }).map((parts) => parts.join('')),
  fc.string({ unit: 'grapheme', maxLength: 200 }),
);
const transcript = fc.oneof(
  fc.array(fc.tuple(label, text), { maxLength: 12 }).map((lines) => transcriptOf(...lines)),
  text,
);
const request: fc.Arbitrary<ExtractRequest> = fc.record({
  transcript,
  previousSummary: fc.option(fc.oneof(text, transcript)),
  instructions: fc.option(text),
  maxChars: fc.oneof(fc.integer({ min: 1, max: 300 }), fc.integer({ min: 200, max: 12_000 })),
});

describe('for any request', () => {
  test('the summary fits, is well formed, and is blank only where there is no text', () => {
    fc.assert(
      fc.property(request, (asked) => {
        const summary = extractSummary(asked);
        expect(summary.length).toBeLessThanOrEqual(asked.maxChars);
        expect(summary.isWellFormed()).toBe(true);
        const hasText = asked.transcript.trim() !== '' || (asked.previousSummary ?? '').trim() !== '';
        expect(summary.trim() !== '').toBe(hasText);
      }),
      { numRuns: 500 },
    );
  });

  test('the same request gives the same summary', () => {
    fc.assert(
      fc.property(request, (asked) => {
        expect(extractSummary(asked)).toBe(extractSummary({ ...asked }));
      }),
    );
  });

  test('its own summary is carried on unchanged where nothing is new', () => {
    fc.assert(
      fc.property(request, (asked) => {
        const maxChars = 12_000;
        const carryOn = (previousSummary: string): string =>
          extractSummary({ previousSummary, transcript: '', instructions: null, maxChars });
        const once = carryOn(extractSummary({ ...asked, maxChars }));
        expect(carryOn(once)).toBe(once);
      }),
    );
  });

  test('every line of a previous summary stays where there is room', () => {
    const line = fc
      .tuple(
        fc.constantFrom('berth', 'ref', 'ferry', 'préço', 'قارب', '船'),
        fc.nat(9999),
        fc.constantFrom('', ' ok.'),
      )
      .map(([word, number, end]) => `${word} ${number}${end}`);
    fc.assert(
      fc.property(fc.uniqueArray(line, { minLength: 1, maxLength: 40 }), transcript, (lines, news) => {
        const summary = extractSummary({
          previousSummary: lines.join('\n'),
          transcript: news,
          instructions: null,
          maxChars: 50_000,
        });
        const kept = summary.split('\n').map((item) => item.slice(2));
        expect(kept.filter((item) => lines.includes(item))).toEqual(lines);
      }),
    );
  });
});

test('a megabyte of anything takes no more than linear time', () => {
  const million = (unit: string): string => unit.repeat(1_000_000 / unit.length);
  for (const unit of ['a', '7', '\n', '? a ', '漢字。九', '- a\n', '[user]\n\n\n', 'A. b']) {
    const started = performance.now();
    extractSummary({
      previousSummary: null,
      transcript: million(unit),
      instructions: null,
      maxChars: 12_000,
    });
    // Ten times what the slowest takes on two shared cores: it catches quadratic time, not a busy machine.
    expect(performance.now() - started).toBeLessThan(15_000);
  }
}, 60_000);
