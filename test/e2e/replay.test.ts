import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { LLMock } from '@copilotkit/aimock';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type ChatMessage, isSystem } from '../../src/compaction/measure.js';
import { modelAt, startService, type TestService } from '../support/service.js';
import { strictViolation } from '../support/strict.js';

interface Conversation {
  readonly id: string;
  readonly messages: readonly ChatMessage[];
}

const file = (path: string) => fileURLToPath(new URL(path, import.meta.url));

/**
 * The bundled conversation, and those of a folder of real ones when it is there: they are not part of the
 * repository. REPLAY_DATA names another folder; a file holds one conversation, or one per line.
 */
function conversations(): Conversation[] {
  const folder = process.env['REPLAY_DATA'] ?? file('../../../shared/data');
  const real = ['airline-support.jsonl', 'coding-long.json']
    .map((name) => `${folder}/${name}`)
    .filter(existsSync);
  if (real.length === 0)
    process.stderr.write(`replay: no real conversations in ${folder}, only the bundled one\n`);
  return [file('../../examples/ferry-booking.json'), ...real].flatMap((path) => {
    const text = readFileSync(path, 'utf8');
    const documents = path.endsWith('.jsonl') ? text.split('\n').filter((line) => line !== '') : [text];
    return documents.map((document): Conversation => JSON.parse(document));
  });
}

/** The conversation without its last assistant messages: what a model is asked to answer. */
function askedPart(messages: readonly ChatMessage[]): readonly ChatMessage[] {
  let end = messages.length;
  while (end > 0 && !['user', 'tool'].includes(messages[end - 1]?.role ?? '')) end -= 1;
  return messages.slice(0, end);
}

/** Whether the conversation may be cut before `size`: no tool call is parted from its results there. */
function partsGroup(conversation: readonly ChatMessage[], size: number): boolean {
  let head = size;
  while (conversation[head]?.role === 'tool') head -= 1;
  return head < size && (conversation[head]?.tool_calls?.length ?? 0) > 0;
}

/** Compacts at 50% until up to date, checking everything after each step; gives the open chars before and after. */
async function replay(
  service: TestService,
  { messages }: Conversation,
): Promise<{ steps: number; before: number; after: number }> {
  const conversation = messages.filter(({ role }) => !isSystem(role));
  const acceptable = strictViolation(messages) === null;
  const id = await service.session(messages, { compactCount: 50 });
  let size = 0;
  let before = 0;
  let after = 0;
  for (let steps = 0; ; steps += 1) {
    const { status, body } = await service.compact(id);
    expect(status).toBe(200);
    if (body.alreadyUpToDate) return { steps, before, after };
    if (steps === 0) before = body.compaction.chars_before;
    after = body.compaction.chars_after;
    expect(body.newSize).toBeGreaterThan(size);
    size = body.newSize;
    expect(partsGroup(conversation, size)).toBe(false);
    expect(await service.messages(id)).toEqual(messages);
    const view = await service.view(id);
    const tail = conversation.slice(size);
    expect(view.slice(view.length - tail.length)).toEqual(tail);
    if (acceptable && tail.length > 0) expect(strictViolation(view)).toBeNull();
    expect(steps).toBeLessThan(200);
  }
}

const all = conversations().map(({ messages, ...rest }) => ({ ...rest, messages: askedPart(messages) }));

describe('conversations, compacted again and again', () => {
  const mock = new LLMock({ port: 0, host: '127.0.0.1' });
  beforeAll(async () => {
    await mock.start();
    mock.onMessage(/./s, { content: 'The user asked, the assistant worked, and this is what came of it.' });
  });
  afterAll(() => mock.stop());

  it.each(all)('$id, by the embedded summarizer', { timeout: 120_000 }, async (conversation) => {
    const { steps, before, after } = await replay(await startService(), conversation);
    expect(steps).toBeGreaterThan(1);
    expect(after).toBeLessThan(before);
  });

  it.each(all)('$id, by a model endpoint', { timeout: 120_000 }, async (conversation) => {
    const { steps, before, after } = await replay(await startService(modelAt(mock.url)), conversation);
    expect(steps).toBeGreaterThan(1);
    expect(after).toBeLessThan(before);
  });
});
