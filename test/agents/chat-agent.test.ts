import { describe, expect, it } from 'vitest';
import { chatAt, inTurn, sent, startChat } from '../support/chat.js';
import { assistant, system, user } from '../support/messages.js';
import { startService } from '../support/service.js';

const tool = { type: 'function', function: { name: 'lookup', parameters: { type: 'object' } } };

describe('the agent of a chat', () => {
  it('says which model, prompt, temperature, cap and tools are sent', async () => {
    const { model, say } = await startChat(inTurn({ content: 'Yes.' }), {
      agent: {
        model: 'other-1',
        systemPrompt: 'Be brief.',
        temperature: 0.3,
        maxTokens: 77,
        tools: [tool],
      },
    });
    expect((await say({ message: 'Hello' })).status).toBe(200);
    expect(model.bodies[0]).toEqual({
      model: 'other-1',
      messages: [system('Be brief.'), user('Hello')],
      stream: true,
      stream_options: { include_usage: true },
      temperature: 0.3,
      max_tokens: 77,
      tools: [tool],
    });
  });

  it('sends nothing that it does not say', async () => {
    const { service, model } = await startChat(inTurn({ content: 'Yes.' }));
    await service.agent('plain');
    expect((await service.call('POST', '/agents/plain/chat', { message: 'Hello' })).status).toBe(200);
    expect(model.bodies[0]).toEqual({
      model: 'stub-1',
      messages: [user('Hello')],
      stream: true,
      stream_options: { include_usage: true },
    });
  });

  it('is as it is now, in sessions that it began before too', async () => {
    const { service, model, say } = await startChat(inTurn({ content: 'Yes.' }), {
      agent: { defaultCompaction: { compactionCount: 33.3 } },
    });
    const { sessionId } = (await say({ message: 'One' })).body;
    await service.agent('clerk', {
      systemPrompt: 'Be loud.',
      model: 'other-2',
      defaultCompaction: { compactionCount: 70 },
    });
    expect((await say({ sessionId, message: 'Two' })).status).toBe(200);
    expect(model.bodies[1]?.['model']).toBe('other-2');
    expect(sent(model, 1)).toEqual([system('Be loud.'), user('One'), assistant('Yes.'), user('Two')]);
    const { body: session } = await service.call('GET', `/sessions/${sessionId}`);
    expect(session).toMatchObject({ agent: 'clerk', kind: 'chat', compact_count: 33.3, message_count: 4 });
    const fresh = (await say({ message: 'Three' })).body.sessionId;
    expect((await service.call('GET', `/sessions/${fresh}`)).body.compact_count).toBe(70);
  });

  it('must be there', async () => {
    const { service, model } = await startChat(inTurn({ content: 'Yes.' }));
    const refused = await service.call('POST', '/agents/nobody/chat', { message: 'Hello' });
    expect([refused.status, refused.body.code]).toEqual([404, 'AGENT_NOT_FOUND']);
    expect(model.bodies).toEqual([]);
    expect(service.sql('SELECT id FROM sessions')).toEqual([]);
  });
});

describe('the session of a chat', () => {
  it('must be there, and open', async () => {
    const { service, model, say } = await startChat(inTurn({ content: 'Yes.' }));
    const none = await say({ sessionId: 'none', message: 'Hello' });
    expect([none.status, none.body.code]).toEqual([404, 'SESSION_NOT_FOUND']);
    const id = await service.session([user('One')]);
    await service.call('POST', `/sessions/${id}/close`);
    const closed = await say({ sessionId: id, message: 'Hello' });
    expect([closed.status, closed.body.code]).toEqual([400, 'SESSION_CLOSED']);
    expect(await service.messages(id)).toEqual([user('One')]);
    expect(model.bodies).toEqual([]);
    await service.call('POST', `/sessions/${id}/reopen`);
    expect((await say({ sessionId: id })).status).toBe(200);
  });

  it('is not begun without an endpoint', async () => {
    const service = await startService();
    await service.agent('clerk');
    const id = await service.session([user('One')]);
    for (const body of [{ message: 'Hello' }, { message: 'Hello', sessionId: id }]) {
      for (const headers of [{}, { 'idempotency-key': 'k' }]) {
        const refused = await service.call('POST', '/agents/clerk/chat', body, headers);
        expect([refused.status, refused.body.code]).toEqual([503, 'MODEL_NOT_CONFIGURED']);
      }
    }
    expect(service.sql('SELECT id FROM sessions')).toEqual([{ id }]);
    expect(await service.messages(id)).toEqual([user('One')]);
    expect(service.sql('SELECT key FROM idempotency_keys')).toEqual([]);
  });

  it('goes on in a service that was started again', async () => {
    const { service, model, summarizer, say } = await startChat(inTurn({ content: 'Yes.' }));
    const { sessionId } = (await say({ message: 'One' })).body;
    await service.close();
    const again = await startService(chatAt(model.url, summarizer.url), service.file);
    const answer = await again.call('POST', '/agents/clerk/chat', { sessionId, message: 'Two' });
    expect(answer.status).toBe(200);
    expect(sent(model, 1).slice(1)).toEqual([user('One'), assistant('Yes.'), user('Two')]);
  });

  it.each([
    [{ message: '' }, '/message'],
    [{ message: [] }, '/message'],
    [{ message: 5 }, '/message'],
    [{ message: 'x', toolResults: [] }, '/toolResults'],
    [{ message: 'x', toolResults: [{ toolCallId: 'c' }] }, '/toolResults/0/content'],
    [{ message: 'x', stream: 'yes' }, '/stream'],
    [{ message: 'x', sessionId: 'a b' }, '/sessionId'],
    [{ message: 'x', extra: 1 }, '/extra'],
  ])('is not begun by %j', async (body, pointer) => {
    const { service, model, say } = await startChat(inTurn({ content: 'Yes.' }));
    const refused = await say(body, 'k');
    expect([refused.status, refused.body.code]).toEqual([400, 'VALIDATION_FAILED']);
    expect(refused.body.errors[0]).toMatchObject({ in: 'body', pointer });
    expect(model.bodies).toEqual([]);
    expect(service.sql('SELECT key FROM idempotency_keys')).toEqual([]);
  });
});
