import { describe, expect, it } from 'vitest';
import { cleanSummary, judgeReply } from '../../src/compaction/accept.js';
import { summaryPrompt } from '../../src/compaction/prompt.js';
import type { Completion } from '../../src/llm/outcome.js';

const reply = (text: string, more: Partial<Completion> = {}): Completion => ({
  kind: 'ok',
  text,
  finishReason: 'stop',
  refusal: null,
  toolCalls: [],
  model: 'm',
  ...more,
});
const judge = (text: string, more: Partial<Completion> = {}) =>
  judgeReply(reply(text, more), (s) => s.length <= 20, 20);

describe('a reply', () => {
  it.each(['stop', null, '', 'end_turn', 'eos', 'something_new'])(
    'that ends with %j is a summary',
    (finishReason) => {
      expect(judge('Brief handoff.', { finishReason })).toEqual({
        verdict: 'accepted',
        summary: 'Brief handoff.',
      });
    },
  );

  it.each([
    '',
    ' \n',
    '\u200b'.slice(1),
    '<think>hm',
    '<think>hm</think>\n',
    '```\n```',
    '```',
    '\u200b\u200b\ufeff',
    '\0',
  ])('%j is empty', (text) => {
    expect(judge(text)).toEqual({ verdict: 'empty' });
  });

  it.each(['length', 'max_tokens', 'model_context_window_exceeded'])(
    'cut by %s is never one',
    (finishReason) => {
      expect(judge('The ferry leaves', { finishReason })).toEqual({ verdict: 'truncated' });
      expect(judge('', { finishReason })).toEqual({ verdict: 'truncated' });
    },
  );

  it('that refuses, is filtered or calls a tool is not one', () => {
    expect(judge('', { refusal: 'No.' })).toEqual({ verdict: 'refused', reason: 'the model refused' });
    expect(judge('half', { finishReason: 'content_filter' })).toEqual({
      verdict: 'refused',
      reason: 'the content filter stopped it',
    });
    expect(judge('text', { toolCalls: [{ id: 'c', name: 'n', arguments: '{}' }] })).toEqual({
      verdict: 'empty',
    });
    expect(judge('text', { finishReason: 'tool_calls' })).toEqual({ verdict: 'empty' });
  });

  it('longer than allowed says how long it is', () => {
    expect(judge('x'.repeat(21))).toEqual({ verdict: 'too_long', chars: 21 });
    expect(judge(`  ${'x'.repeat(20)}\n`)).toEqual({ verdict: 'accepted', summary: 'x'.repeat(20) });
  });
});

describe('the prompt given back', () => {
  const prompt = summaryPrompt({
    previousSummary: 'S0',
    transcript: '[user]\nHi',
    instructions: null,
    maxChars: 2_000,
    lastReplyChars: null,
  });
  it.each([
    ['whole', prompt],
    ['its end', prompt.slice(-300)],
    ['without its fences', prompt.replaceAll(/<[^>]*>/g, '')],
  ])('%s is no summary', (_, text) => {
    expect(judgeReply(reply(text), () => true, 20)).toEqual({ verdict: 'empty' });
  });
});

describe('the cleaned summary', () => {
  it.each([
    ['<think>plan the list</think>\n\nGuest booked two berths.', 'Guest booked two berths.'],
    ['\n<THINKING>a\nb</THINKING>Guest.', 'Guest.'],
    ['plan\n</think>\n\nGuest booked.', 'Guest booked.'],
    ['plan the list</think> \r\nGuest booked.', 'Guest booked.'],
    ['The `</think>` tag was fixed.\nNext: Oslo.', 'The `</think>` tag was fixed.\nNext: Oslo.'],
    ['We fixed </think> handling.\nNext: Oslo.', 'We fixed </think> handling.\nNext: Oslo.'],
    ['a <think>b\n</think>\nc', 'a <think>b\n</think>\nc'],
    ['Text with <think>inside</think> it.', 'Text with <think>inside</think> it.'],
    ['<think>a</think>Use the <think> tag.', 'Use the <think> tag.'],
    // Tags within the block are counted.
    ['<think>a </think> b</think>text', 'text'],
    ['<think>a</think>b</think>c</think>text', 'text'],
    ['<think>a <think>b</think> c</think>text', 'text'],
    ['<think>the <think> tag is meant</think>text', 'text'],
    ['<think>a `</think>` b</think>text', 'text'],
    ['<think>a\n```\n</think>\n```\nb</think>text', 'text'],
    ['<think>it`s</think>Use `x`.', 'Use `x`.'],
    // Tags in the answer are its own.
    ['<think>a</think>The `</think>` tag was fixed.', 'The `</think>` tag was fixed.'],
    [
      '<think>a</think>Fixed:\n~~~html\n</think>\n~~~\nNext: Oslo.',
      'Fixed:\n~~~html\n</think>\n~~~\nNext: Oslo.',
    ],
    ['<think>a</think>Wrap it: <think>x</think> works.', 'Wrap it: <think>x</think> works.'],
    [
      '<think>a</think>One <think>x</think>, two <think>y</think>.',
      'One <think>x</think>, two <think>y</think>.',
    ],
    ['<think>a</think>Strip </thinking> too.', 'Strip </thinking> too.'],
    ['Fixed:\n```\n</think>\n```\nNext: Oslo.', 'Fixed:\n```\n</think>\n```\nNext: Oslo.'],
    ['```markdown\n- Slot 4 reserved\n```', '- Slot 4 reserved'],
    ['Use:\n```sh\nls\n```\nDone', 'Use:\n```sh\nls\n```\nDone'],
    ['```\n- Slot 4', '- Slot 4'],
    ['```sh\nls\n```\nDone', '```sh\nls\n```\nDone'],
    ['```md\nUse:\n```sh\nls\n```\nDone\n```', 'Use:\n```sh\nls\n```\nDone'],
    ['~~~\n- a\n~~~', '- a'],
    ['````md\n```\na\n```\n````', '```\na\n```'],
    ['<think>x</think>\n```\nGuest.\n```\n', 'Guest.'],
    ['```- berth 12 is booked\n- K-114', '```- berth 12 is booked\n- K-114'],
    ['~~~ Goal: book berth 12', '~~~ Goal: book berth 12'],
    ['`berth` 12', '`berth` 12'],
    ['a\0b', 'ab'],
    ['half \ud83d pair', 'half \ufffd pair'],
    ['مرحبا \u202babc\u202c', 'مرحبا \u202babc\u202c'],
  ])('%j becomes %j', (text, cleaned) => {
    expect(cleanSummary(text)).toBe(cleaned);
  });
});

describe('a reply of any kind is judged in no time', () => {
  const of = (piece: string, chars: number) => piece.repeat(Math.floor(chars / piece.length));
  /** The largest configured: with it most of a reply is looked at. */
  const timed = (text: string, maxChars = 1_000_000) => {
    const start = performance.now();
    const judgement = judgeReply(reply(text), (summary) => summary.length <= 20, maxChars);
    return { judgement, ms: performance.now() - start };
  };
  const pieces: readonly string[] = [
    '<think>',
    '</think>',
    'a</think> ',
    'a</think>\n',
    '`a',
    '```a\n~~~b\n',
    '~~~\nx',
    '`',
    '``` \n',
    '</think>    x',
    '\n',
    'x\n```\n',
  ];
  const starts = ['', '<think>', '~~~\n', '<think>\n```\n'];

  it.each(pieces)('whose text is %j again and again', (piece) => {
    for (const start of starts) {
      expect(timed(start + of(piece, 1_900_000)).ms).toBeLessThan(3_000);
    }
  });

  it.each(pieces)('or that, ten million chars of it: %j', (piece) => {
    const { judgement, ms } = timed(of(piece, 10_000_000));
    const chars = of(piece, 10_000_000).length;
    expect(judgement).toEqual(piece === '\n' ? { verdict: 'empty' } : { verdict: 'too_long', chars });
    expect(ms).toBeLessThan(500);
  });

  it('and looked at as a whole up to twenty times the length asked for, at least half a million', () => {
    const thinking = (chars: number) => `<think>${of('a', chars - 15 - 6)}</think>Brief.`;
    const verdict = (chars: number, maxChars: number) => timed(thinking(chars), maxChars).judgement.verdict;
    expect(thinking(500_000)).toHaveLength(500_000);
    expect([verdict(500_000, 20), verdict(500_001, 20)]).toEqual(['accepted', 'too_long']);
    expect([verdict(800_000, 40_000), verdict(800_001, 40_000)]).toEqual(['accepted', 'too_long']);
    expect([verdict(2_000_000, 1_000_000), verdict(2_000_001, 1_000_000)]).toEqual(['accepted', 'too_long']);
  });

  it('with fences that grow, none of which is closed', () => {
    const text = Array.from({ length: 1_800 }, (_, i) => `${'`'.repeat(i + 3)}x`).join('\n');
    expect(timed(`<think>${text}</think>\nBrief.`).ms).toBeLessThan(500);
    const shrinking = text.split('\n').reverse().join('\n');
    expect(timed(`<think>${shrinking}</think>\nBrief.`).ms).toBeLessThan(500);
  });

  it('and a summary after much thinking is one', () => {
    const { judgement, ms } = timed(`<think>${of('Hm, `a` or b?\n', 1_500_000)}</think>\nBrief.`);
    expect(judgement).toEqual({ verdict: 'accepted', summary: 'Brief.' });
    expect(ms).toBeLessThan(1_500);
  });
});
