import { LLMock } from '@copilotkit/aimock';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type ChatMessage, isSystem } from '../../src/compaction/measure.js';
import { type Conversation, conversations } from '../support/conversations.js';
import { modelAt, startService, type TestService } from '../support/service.js';
import { strictViolation } from '../support/strict.js';

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

/**
 * Messages in the form a strict endpoint takes: calls that were never answered get a result, empty results are
 * named, and where two turns of one role follow each other, maybe with tool traffic between them, a turn of
 * the other role is put in. Real histories need it with and without a summary; the summary itself must not be
 * what needs it.
 */
function cleaned(messages: readonly ChatMessage[]): ChatMessage[] {
  const clean: ChatMessage[] = [];
  let lastTurn: ChatMessage['role'] | null = null;
  let open: string[] = [];
  const answerOpenCalls = () => {
    for (const id of open) clean.push({ role: 'tool', tool_call_id: id, content: '(no result)' });
    open = [];
  };
  for (const message of messages) {
    if (message.role === 'tool') open = open.filter((id) => id !== message.tool_call_id);
    else answerOpenCalls();
    const called = (message.tool_calls ?? []).map(({ id }) => id ?? '');
    if (message.role === 'user' || (message.role === 'assistant' && called.length === 0)) {
      const other = message.role === 'user' ? 'assistant' : 'user';
      if (lastTurn === message.role) clean.push({ role: other, content: '(went on)' });
      lastTurn = message.role;
    }
    open.push(...called);
    clean.push(message.content === '' && called.length === 0 ? { ...message, content: '(empty)' } : message);
  }
  answerOpenCalls();
  return clean;
}

/** Compacts at 50% until up to date, checking everything after each step; gives the open chars before and after. */
async function replay(
  service: TestService,
  { messages }: Conversation,
): Promise<{ steps: number; before: number; after: number }> {
  const conversation = messages.filter(({ role }) => !isSystem(role));
  expect(strictViolation(cleaned(messages))).toBeNull();
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
    const head = view.slice(0, view.length - tail.length);
    expect(view.slice(head.length)).toEqual(tail);
    if (tail.length > 0) expect(strictViolation([...head, ...cleaned(tail)])).toBeNull();
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
