import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { costOf } from '../../src/compaction/budget.js';
import { type BatchMessage, type Chunk, ChunkReader } from '../../src/compaction/chunk-reader.js';
import { type ChatMessage, isSystem, measure } from '../../src/compaction/measure.js';
import { callNamesAfter, renderMessage } from '../../src/compaction/transcript.js';
import { numberMessages } from '../../src/sessions/number-messages.js';
import { assistant, calls, result, user } from '../support/messages.js';
import { anyConversation } from './conversations.js';

const options = { toolResultChars: 10_000 };

function batchOf(messages: readonly ChatMessage[]): BatchMessage[] {
  const start = { messageCount: 0, conversationCount: 0, totalChars: 0, openGroupStart: null };
  return numberMessages(messages, start).numbered.map(({ position, group_start }, index) => ({
    position: position ?? 0,
    groupStart: group_start ?? 0,
    message: messages[index] ?? user(''),
  }));
}

/** A reader over a batch in memory that gives at most `pageRows` rows at a time. */
function reader(batch: readonly BatchMessage[], unit: 'chars' | 'tokens' = 'chars', pageRows = 3) {
  const read = async (from: number) => batch.slice(from, from + pageRows);
  return new ChunkReader(read, 0, batch.length, unit, options);
}

const within = (cost: number, tokens = Number.POSITIVE_INFINITY) => ({ cost, tokens });

async function allChunks(from: ChunkReader, budget: number): Promise<Chunk[]> {
  const chunks: Chunk[] = [];
  while (!from.done) {
    const chunk = await from.take(within(budget));
    chunks.push(chunk);
    from.advance(chunk);
  }
  return chunks;
}

describe('chunks of a batch', () => {
  it('are one when all fits', async () => {
    const batch = batchOf([user('one'), calls(['c']), result('c', 'r'), assistant('two')]);
    expect(await allChunks(reader(batch), 1_000)).toEqual([
      {
        text: '[user]\none\n\n[assistant calls lookup]\n{}\n\n[result of lookup]\nr\n\n[assistant]\ntwo',
        chars: 15,
        safeEnd: 4,
        whole: 4,
        offset: 0,
      },
    ]);
  });

  it('end where the conversation may be cut, rather than in a tool group', async () => {
    const batch = batchOf([
      user('one'),
      calls(['c', 'd']),
      result('c', 'r'),
      result('d', 's'),
      assistant('two'),
    ]);
    const chunks = await allChunks(reader(batch), 90);
    expect(chunks.map(({ safeEnd, whole }) => [safeEnd, whole])).toEqual([
      [1, 1],
      [null, 2],
      [5, 2],
    ]);
  });

  it('feed a message that is too large in pieces, all of it, and go on behind it', async () => {
    const giant = Array.from({ length: 400 }, (_, i) => `w${i}`).join(' ');
    const batch = batchOf([user('one'), user(giant), user('three')]);
    const chunks = await allChunks(reader(batch), 300);
    expect(chunks.every(({ text }) => text.length <= 300)).toBe(true);
    expect(chunks.map(({ safeEnd }) => safeEnd)).toEqual([1, null, null, null, null, null, null, 3]);
    const pieces = chunks.slice(1).map(({ text }) => text.replace(/^\[user( \(continued\))?\]\n/, ''));
    expect(pieces.join('').startsWith(giant)).toBe(true);
    expect(chunks.reduce((sum, { chars }) => sum + chars, 0)).toBeGreaterThanOrEqual(giant.length);
  });

  it('can be taken again, smaller, before the reader moves on', async () => {
    const source = reader(batchOf([user('a'.repeat(50)), user('b'.repeat(50)), user('c'.repeat(50))]));
    expect((await source.take(within(500))).whole).toBe(3);
    expect((await source.take(within(130))).whole).toBe(2);
    expect((await source.take(within(60))).whole).toBe(1);
  });

  it.each(['chars', 'tokens'] as const)('keep within a budget of %s and lose nothing', async (unit) => {
    await fc.assert(
      fc.asyncProperty(anyConversation, fc.integer({ min: 120, max: 600 }), async (messages, budget) => {
        const conversation = messages.filter(({ role }) => !isSystem(role));
        const chunks = await allChunks(reader(batchOf(conversation), unit), budget);
        for (const { text } of chunks) expect(costOf(text, unit)).toBeLessThanOrEqual(budget);
        expect(chunks.at(-1)?.safeEnd ?? conversation.length).toBe(conversation.length);
        const ends = chunks.flatMap(({ safeEnd }) => (safeEnd === null ? [] : [safeEnd]));
        expect(ends).toEqual([...ends].sort((a, b) => a - b));

        let names: ReadonlyMap<string, string> = new Map();
        const whole: string[] = [];
        for (const message of conversation) {
          whole.push(renderMessage(message, names, options));
          names = callNamesAfter(message, names);
        }
        const squeeze = (text: string) => text.replace(/\[[^\n]*\(continued\)\]\n/g, '').replace(/\n/g, '');
        expect(squeeze(chunks.map(({ text }) => text).join(''))).toBe(squeeze(whole.join('')));
      }),
    );
  });

  it('keep within a limit of tokens beside that of chars, whatever the script', async () => {
    const giant = `${'abc def '.repeat(200)}${'明天早上'.repeat(200)}`;
    const source = batchOf([user('one'), user('明天早上我们'.repeat(20)), user(giant), user('four')]);
    const from = reader(source);
    const sizes: number[][] = [];
    while (!from.done) {
      const chunk = await from.take(within(400, 150));
      sizes.push([chunk.text.length, costOf(chunk.text, 'tokens')]);
      from.advance(chunk);
    }
    expect(Math.max(...sizes.map(([chars = 0]) => chars))).toBe(400);
    expect(Math.max(...sizes.map(([, tokens = 0]) => tokens))).toBe(150);
    // Latin text is held by the chars, Chinese by the tokens.
    expect(sizes.length).toBeLessThan(16);
  });

  it('count the chars that the messages measure', async () => {
    await fc.assert(
      fc.asyncProperty(anyConversation, async (messages) => {
        const conversation = messages.filter(({ role }) => !isSystem(role));
        const chunks = await allChunks(reader(batchOf(conversation)), 100_000);
        const total = conversation.reduce((sum, message) => sum + measure(message).chars, 0);
        expect(chunks.reduce((sum, { chars }) => sum + chars, 0)).toBe(total);
      }),
    );
  });

  it('never end inside a character', async () => {
    const chunks = await allChunks(reader(batchOf([user('😀'.repeat(2_000))])), 101);
    expect(chunks.every(({ text }) => text.isWellFormed())).toBe(true);
    expect(chunks.length).toBeGreaterThan(30);
  });
});
