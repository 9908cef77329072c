import { describe, expect, it } from 'vitest';
import { chatAt, eventsOf, inTurn, startChat } from '../support/chat.js';
import { assistant, user } from '../support/messages.js';
import { startService } from '../support/service.js';

const FAILS = { status: 500, body: { error: { message: 'broken' } } };

describe('a chat with an Idempotency-Key', () => {
  it('is answered once more with the same bytes, also after a restart, and does nothing', async () => {
    const { service, model, summarizer, say } = await startChat((_, index) => ({ content: `Yes ${index}.` }));
    const first = await say({ message: 'Hello' }, 'k');
    const second = await say({ message: 'Hello' }, 'k');
    expect([first.headers['idempotency-replayed'], second.headers['idempotency-replayed']]).toEqual([
      undefined,
      'true',
    ]);
    expect([second.status, second.text]).toEqual([200, first.text]);
    await service.close();
    const again = await startService(chatAt(model.url, summarizer.url), service.file);
    const headers = { 'idempotency-key': 'k' };
    const third = await again.call('POST', '/agents/clerk/chat', { message: 'Hello' }, headers);
    expect([third.status, third.text, third.headers['content-type']]).toEqual([
      200,
      first.text,
      first.headers['content-type'],
    ]);
    expect(model.bodies).toHaveLength(1);
    expect(await again.messages(first.body.sessionId)).toEqual([user('Hello'), assistant('Yes 0.')]);
    expect(again.sql('SELECT id FROM sessions')).toHaveLength(1);
  });

  it('keeps its answer when agent, session and endpoint are gone', async () => {
    const { service, model, say } = await startChat(inTurn({ content: 'Yes.' }));
    const first = await say({ message: 'Hello' }, 'k');
    await service.call('DELETE', `/sessions/${first.body.sessionId}`);
    await service.call('DELETE', '/agents/clerk');
    await service.close();
    const again = await startService({}, service.file);
    const second = await again.call(
      'POST',
      '/agents/clerk/chat',
      { message: 'Hello' },
      { 'idempotency-key': 'k' },
    );
    expect([second.status, second.text]).toEqual([200, first.text]);
    expect(model.bodies).toHaveLength(1);
  });

  it('is refused with another body, agent or session', async () => {
    const { service, model, say } = await startChat(inTurn({ content: 'Yes.' }));
    await service.agent('other');
    const { sessionId } = (await say({ message: 'Hello' }, 'k')).body;
    const others = [
      await say({ message: 'Hello!' }, 'k'),
      await say({ message: 'Hello', sessionId }, 'k'),
      await say({ message: 'Hello', stream: true }, 'k'),
      await service.call('POST', '/agents/other/chat', { message: 'Hello' }, { 'idempotency-key': 'k' }),
    ];
    expect(others.map(({ status, body }) => [status, body.code])).toEqual(
      others.map(() => [422, 'IDEMPOTENCY_KEY_REUSED']),
    );
    expect(model.bodies).toHaveLength(1);
    expect(await service.messages(sessionId)).toHaveLength(2);
  });

  it('is refused while it is at work, and gives its one answer to all after that', async () => {
    const { service, model, say } = await startChat(inTurn({ content: 'Yes.', delayMs: 400 }));
    const body = { message: 'Hello' };
    const answers = await Promise.all([say(body, 'k'), say(body, 'k'), say(body, 'k')]);
    const [done, ...refused] = answers.toSorted((a, b) => a.status - b.status);
    expect(done?.status).toBe(200);
    for (const each of refused) {
      expect([each.status, each.body.code]).toEqual([409, 'IDEMPOTENCY_KEY_IN_USE']);
      expect(Number(each.headers['retry-after'])).toBeGreaterThanOrEqual(1);
      expect(Number(each.headers['retry-after'])).toBeLessThanOrEqual(30);
    }
    const later = await Promise.all([say(body, 'k'), say(body, 'k')]);
    expect(later.map(({ status, text }) => [status, text])).toEqual([
      [200, done?.text],
      [200, done?.text],
    ]);
    expect(model.bodies).toHaveLength(1);
    expect(service.sql('SELECT id FROM sessions')).toHaveLength(1);
    expect(await service.messages(done?.body.sessionId ?? '')).toHaveLength(2);
  });

  it('that failed does not go on once another message came', async () => {
    const { service, model, say } = await startChat(inTurn(FAILS, { content: 'Yes.' }), {
      variables: { MAIN_WIRE: 'strict' },
    });
    const { sessionId } = (await say({ message: 'One' }, 'k')).body;
    expect((await say({ sessionId, message: 'Two' })).status).toBe(200);
    const late = await say({ message: 'One' }, 'k');
    expect([late.status, late.body.code]).toEqual([409, 'SESSION_CHANGED']);
    expect(await service.messages(sessionId)).toEqual([user('One'), user('Two'), assistant('Yes.')]);
    expect(model.bodies).toHaveLength(2);
  });

  it.each([
    [
      'a message was appended',
      'messages',
      { messages: [{ role: 'user', content: 'Two' }] },
      'SESSION_CHANGED',
    ],
    ['the session was reset', 'reset', undefined, 'SESSION_CHANGED'],
    ['the session was closed', 'close', undefined, 'SESSION_CLOSED'],
  ])('that failed does not go on once %s', async (_, action, body, code) => {
    const { service, model, say } = await startChat(inTurn(FAILS, { content: 'Yes.' }));
    const { sessionId } = (await say({ message: 'One' }, 'k')).body;
    expect((await service.call('POST', `/sessions/${sessionId}/${action}`, body)).status).toBeLessThan(300);
    const before = await service.messages(sessionId);
    expect((await say({ message: 'One' }, 'k')).body.code).toBe(code);
    expect(await service.messages(sessionId)).toEqual(before);
    expect(model.bodies).toHaveLength(1);
  });

  it('that failed does not go on with the message of another request that stands in the same place', async () => {
    const { service, model, say } = await startChat(inTurn(FAILS));
    const { sessionId } = (await say({ message: 'One' }, 'k1')).body;
    await service.call('POST', `/sessions/${sessionId}/reset`);
    await say({ sessionId, message: 'Two' }, 'k2');
    const refused = await say({ message: 'One' }, 'k1');
    expect([refused.body.code, refused.body.retryable, refused.headers['x-should-retry']]).toEqual([
      'SESSION_CHANGED',
      false,
      'false',
    ]);
    expect(model.bodies).toHaveLength(2);
    expect(await service.messages(sessionId)).toEqual([user('Two')]);
    expect((await say({ sessionId, message: 'Two' }, 'k2')).body.code).toBe('MODEL_UNAVAILABLE');
    expect(model.bodies).toHaveLength(3);
  });

  it('that failed stays with its session when that is deleted', async () => {
    const { service, model, say } = await startChat(inTurn(FAILS, FAILS, { content: 'Yes.' }));
    const { sessionId } = (await say({ message: 'One' }, 'k')).body;
    await service.call('DELETE', `/sessions/${sessionId}`);
    // A session whose message stands at the same place.
    const other = (await say({ message: 'Two' })).body.sessionId;
    const again = await say({ message: 'One' }, 'k');
    expect([again.status, again.body.code]).toEqual([404, 'SESSION_NOT_FOUND']);
    expect(service.sql('SELECT id FROM sessions')).toEqual([{ id: other }]);
    expect(model.bodies).toHaveLength(2);
  });

  it('that was refused may be sent again', async () => {
    const { service, say } = await startChat(inTurn({ content: 'Yes.' }));
    expect((await say({ sessionId: 's', message: 'Hello' }, 'k')).body.code).toBe('SESSION_NOT_FOUND');
    await service.session([], { id: 's' });
    await service.call('POST', '/sessions/s/close');
    expect((await say({ sessionId: 's', message: 'Hello' }, 'k')).body.code).toBe('SESSION_CLOSED');
    await service.call('POST', '/sessions/s/reopen');
    expect((await say({ sessionId: 's', message: 'Hello' }, 'k')).status).toBe(200);
    expect(await service.messages('s')).toHaveLength(2);
  });

  it('that was streamed is streamed again', async () => {
    const { service, model, say } = await startChat(inTurn({ content: 'Yes.' }));
    const body = { message: 'Hello', stream: true };
    const [first, second] = [await say(body, 'k'), await say(body, 'k')];
    const events = eventsOf(first.text);
    expect(events.map(({ event }) => event)).toEqual([
      'session-opened',
      'message-delta',
      'message-completed',
      'turn-completed',
    ]);
    const last = events.at(-1);
    const { sessionId } = events[0]?.data ?? {};
    expect(last?.data).toMatchObject({ sessionId, message: assistant('Yes.') });
    expect(eventsOf(second.text)).toEqual([{ event: 'session-opened', data: { sessionId } }, last]);
    expect([second.headers['content-type'], second.headers['idempotency-replayed']]).toEqual([
      'text/event-stream; charset=utf-8',
      'true',
    ]);
    expect(model.bodies).toHaveLength(1);
    expect(await service.messages(sessionId ?? '')).toHaveLength(2);
  });

  it('that waits for results is answered with what it waits for, also when they have come since', async () => {
    const lookup = { type: 'function', function: { name: 'lookup', parameters: { type: 'object' } } };
    const call = { id: 'c1', type: 'function', function: { name: 'lookup', arguments: '{}' } };
    const { model, say } = await startChat(
      inTurn({ content: null, message: { tool_calls: [call] } }, { content: 'Done.' }),
      { agent: { tools: [lookup] } },
    );
    const first = await say({ message: 'Go.' }, 'k1');
    const { sessionId } = first.body;
    expect(first.body).toMatchObject({ status: 'requires_action', toolCalls: [call] });
    const results = { sessionId, toolResults: [{ toolCallId: 'c1', content: 'r1' }] };
    const done = await say(results, 'k2');
    expect((await say({ message: 'Go.' }, 'k1')).text).toBe(first.text);
    expect((await say(results, 'k2')).text).toBe(done.text);
    expect(model.bodies).toHaveLength(2);
  });
});
