import { describe, expect, it } from 'vitest';
import { system, text, turns, user } from '../support/messages.js';
import type { TestService } from '../support/service.js';
import { strictViolation } from '../support/strict.js';
import { append, quoted, startWithModel, stateOf, summaryOf, transcriptOf } from './expected.js';

const before = turns(10, 100).map((message) => ({ ...message, content: `PRE-RESET ${message.content}` }));

async function compactedThenReset(service: TestService) {
  const id = await service.session([system('OLD-SYS'), ...before], { title: 'Oslo', compactCount: 30 });
  await service.compact(id);
  const { body: session } = await service.call('GET', `/sessions/${id}`);
  expect(session).toMatchObject({ compact_summary: 'OLD-8', compact_size: 3, message_count: 11 });
  const { status, body } = await service.call('POST', `/sessions/${id}/reset`);
  expect(status).toBe(200);
  return { id, session, body };
}

describe('a session after its reset', () => {
  it('has no messages, no summary and no records, and keeps what it is', async () => {
    const { service } = await startWithModel(() => ({ content: 'OLD-8' }));
    const { id, session, body } = await compactedThenReset(service);

    expect(body).toEqual({
      ...session,
      compact_summary: null,
      compact_size: 0,
      message_count: 0,
      input_tokens: 0,
      output_tokens: 0,
      revision: session.revision + 1,
      version: session.version + 1,
      updated_at: expect.any(String),
    });
    const state = await stateOf(service, id);
    expect(state).toEqual({
      session: body,
      messages: [],
      compactions: { data: [], next_cursor: null, has_more: false },
    });
    expect(await service.view(id)).toEqual([]);
    const dump = ['sessions', 'messages', 'compactions'].map((table) =>
      service.sql(`SELECT * FROM ${table}`),
    );
    expect(JSON.stringify(dump)).not.toMatch(/OLD-|PRE-RESET/);
  });

  it('begins anew with the next message', async () => {
    const { service } = await startWithModel(() => ({ content: 'OLD-8' }));
    const { id } = await compactedThenReset(service);
    const { body } = await service.call('POST', `/sessions/${id}/messages`, { messages: [user('hi')] });

    expect(body.data).toMatchObject([{ seq: 0, position: 0, chars: 2 }]);
    const context = (await service.call('GET', `/sessions/${id}/context`)).body;
    expect(context).toEqual({
      messages: [user('hi')],
      summary_chars: 0,
      tail_count: 1,
      chars: 2,
      estimated_tokens: 1,
    });
    expect(strictViolation(context.messages)).toBeNull();
  });

  it('is summarized from its new messages alone, by the first-time prompt', async () => {
    const { service, stub } = await startWithModel((_prompt, index) => ({
      content: index === 0 ? 'OLD-8' : 'NEW',
    }));
    const { id } = await compactedThenReset(service);
    const messages = turns(10, 100);
    await append(service, id, ...messages);
    const fresh = await service.session(messages, { compactCount: 30 });

    const { body } = await service.compact(id);
    await service.compact(fresh);

    expect(body.newSize).toBe(3);
    expect(body.compaction).toMatchObject({ predecessor_id: null, from_size: 0, chars_before: 1_000 });
    expect(stub.prompts[1]).not.toMatch(/OLD-|PRE-RESET/);
    expect(quoted(stub.prompts[1], 'transcript')).toBe(
      transcriptOf(...messages.slice(0, 3).map(({ role, content }) => [role, content] as const)),
    );
    expect(stub.server.requests[1]?.body).toBe(stub.server.requests[2]?.body);
    expect(await service.view(id)).toEqual([summaryOf('NEW'), ...messages.slice(3)]);
  });

  it('shows nothing of a long history that was read before', async () => {
    const { service } = await startWithModel();
    const old = turns(600, 20).map((message) => ({ ...message, content: `PRE-RESET ${message.content}` }));
    const id = await service.session(old);
    expect(await service.view(id)).toEqual(old);
    await service.call('POST', `/sessions/${id}/reset`);
    const messages = turns(600, 20);
    await append(service, id, ...messages);
    expect(await service.view(id)).toEqual(messages);
  });

  it('may be reset again', async () => {
    const { service } = await startWithModel(() => ({ content: 'OLD-8' }));
    const { id } = await compactedThenReset(service);
    const { status, body } = await service.call('POST', `/sessions/${id}/reset`);
    expect({ ...body, status }).toMatchObject({
      status: 200,
      compact_summary: null,
      compact_size: 0,
      message_count: 0,
    });
    expect((await service.compact(id)).body).toMatchObject({ compactedCount: 0, reason: 'nothing_new' });
  });
});

describe('a session created with the id of a deleted one', () => {
  it('shares nothing with it', async () => {
    const { service, stub } = await startWithModel();
    const old = turns(600, 20).map((message) => ({ ...message, content: `PRE-RESET ${message.content}` }));
    const id = await service.session(old, { id: 'trip' });
    await service.compact(id, { compactCount: 10 });
    await service.view(id);
    expect((await service.call('DELETE', `/sessions/${id}`)).status).toBe(204);

    const messages = turns(600, 20);
    await service.session(messages, { id: 'trip' });

    expect(await service.view(id)).toEqual(messages);
    expect((await service.call('GET', `/sessions/${id}/compactions`)).body.data).toEqual([]);
    await service.compact(id, { compactCount: 10 });
    expect(stub.prompts[1]).not.toContain('PRE-RESET');
    expect(quoted(stub.prompts[1], 'summary')).toBeNull();
    expect(quoted(stub.prompts[1], 'transcript')).toContain(text(20, 'u0 '));
  });
});
