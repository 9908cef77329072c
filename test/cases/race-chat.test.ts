import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { inTurn, PROMPT, sent, startChat } from '../support/chat.js';
import { assistant, result, system, turns, user } from '../support/messages.js';
import { calling, type ModelStub } from '../support/model-stub.js';
import { ACKNOWLEDGED, callOf, sessionOf, summaryOf } from './expected.js';

const AGENT_PROMPT = system(PROMPT);
const FAILS = { status: 500, body: { error: { message: 'broken' } } };

async function received({ bodies }: ModelStub, count: number): Promise<void> {
  while (bodies.length < count) await sleep(5);
}

describe('a compaction and a chat at once', () => {
  it('leave the running turn alone, its calls and results whole and open', async () => {
    // The clerk calls its subagent, whose answer takes its time.
    const { service, model, summarizer, say } = await startChat(
      inTurn(
        calling(['c1', 'helper', '{"input":"help"}']),
        { content: 'helped', delayMs: 500 },
        { content: 'Yes.' },
      ),
    );
    await service.agent('helper');
    await service.agent('clerk', { systemPrompt: PROMPT, subagents: ['helper'] });
    const messages = turns(4, 100);
    const id = await service.session(messages);
    const chatting = say({ sessionId: id, message: 'KEEP-1' });
    await received(model, 2);

    const compacted = await service.compact(id, { compactCount: 99 });
    expect([compacted.status, compacted.body.newSize]).toEqual([200, 4]);
    expect(summarizer.prompts[0]).not.toContain('KEEP-1');
    expect((await service.compact(id, { compactCount: 99 })).body.reason).toBe('turn_open');

    const answer = await chatting;
    expect(answer.body).toMatchObject({ status: 'completed', message: assistant('Yes.') });
    const turn = [
      user('KEEP-1'),
      callOf('c1', 'helper', '{"input":"help"}'),
      result('c1', 'helped'),
      assistant('Yes.'),
    ];
    expect(await service.messages(id)).toEqual([...messages, ...turn]);
    expect(sent(model, 2)).toEqual([AGENT_PROMPT, summaryOf('S1'), ACKNOWLEDGED, ...turn.slice(0, 3)]);
    expect(await sessionOf(service, id)).toMatchObject({ compact_size: 4, compact_summary: 'S1' });
  });

  it('both succeed when the chat begins while the summary is written', async () => {
    const { service, model, summarizer, say } = await startChat(inTurn({ content: 'Yes.' }), {
      summaries: inTurn({ content: 'S1', delayMs: 500 }),
    });
    const messages = turns(4, 100);
    const id = await service.session(messages);
    const compacting = service.compact(id);
    await received(summarizer, 1);
    expect((await say({ sessionId: id, message: 'KEEP-1' })).status).toBe(200);
    // What is there is sent: nobody waits for the summary.
    expect(sent(model, 0)).toEqual([AGENT_PROMPT, ...messages, user('KEEP-1')]);
    expect((await compacting).body).toMatchObject({ newSize: 2, compactedCount: 2 });
    expect(await service.messages(id)).toEqual([...messages, user('KEEP-1'), assistant('Yes.')]);
    expect((await say({ sessionId: id, message: 'And?' })).status).toBe(200);
    expect(sent(model, 1)).toEqual([
      AGENT_PROMPT,
      summaryOf('S1'),
      ACKNOWLEDGED,
      ...messages.slice(2),
      user('KEEP-1'),
      assistant('Yes.'),
      user('And?'),
    ]);
  });
});

describe('the message of a chat', () => {
  const auto = { defaultCompaction: { compactionCount: 50, auto: { maxTokens: 100 } } };

  it('is kept, and answered, when automatic compaction fails', async () => {
    const { service, model, summarizer, say } = await startChat(inTurn({ content: 'Yes.' }), {
      agent: auto,
      summaries: inTurn(FAILS),
      variables: { COMPACT_RETRIES: '0' },
    });
    const messages = turns(10, 100);
    const id = await service.session(messages);
    const first = await say({ sessionId: id, message: 'KEEP-3' }, 'k');
    expect(first.status).toBe(200);
    expect(summarizer.bodies.length).toBeGreaterThan(0);
    expect(sent(model, 0)).toEqual([AGENT_PROMPT, ...messages, user('KEEP-3')]);
    expect((await say({ sessionId: id, message: 'KEEP-3' }, 'k')).text).toBe(first.text);
    expect(await service.messages(id)).toEqual([...messages, user('KEEP-3'), assistant('Yes.')]);
    expect(await sessionOf(service, id)).toMatchObject({ compact_size: 0, compact_summary: null });
  });

  it.each([
    ['with automatic compaction', auto],
    ['without', {}],
  ])('is stored once when the turn fails and is sent again, %s', async (_, agent) => {
    const { service, say } = await startChat(inTurn(FAILS, FAILS, { content: 'Yes.' }), {
      agent,
      summaries: inTurn(FAILS),
    });
    const messages = turns(10, 100);
    const id = await service.session(messages);
    const body = { sessionId: id, message: 'KEEP-3' };
    for (const status of [502, 502, 200, 200]) expect((await say(body, 'k')).status).toBe(status);
    expect(await service.messages(id)).toEqual([...messages, user('KEEP-3'), assistant('Yes.')]);
  });
});

describe('while a turn runs', () => {
  it.each([
    ['a second chat', 'POST', '/agents/clerk/chat', { sessionId: 's', message: 'Two' }],
    ['an append', 'POST', '/sessions/s/messages', { messages: [{ role: 'user', content: 'Two' }] }],
    ['a reset', 'POST', '/sessions/s/reset', undefined],
    ['closing', 'POST', '/sessions/s/close', undefined],
  ] as const)('%s is refused, and accepted after it', async (_, method, path, body) => {
    const { service, model, say } = await startChat(inTurn({ content: 'Yes.', delayMs: 400 }));
    await service.session([], { id: 's' });
    const chatting = say({ sessionId: 's', message: 'One' });
    await received(model, 1);
    const refused = await service.call(method, path, body);
    expect([refused.status, refused.body.code, refused.body.retryable]).toEqual([409, 'SESSION_BUSY', true]);
    expect(Number(refused.headers['retry-after'])).toBeGreaterThanOrEqual(1);
    expect(Number(refused.headers['retry-after'])).toBeLessThanOrEqual(30);
    expect((await chatting).status).toBe(200);
    expect(await service.messages('s')).toEqual([user('One'), assistant('Yes.')]);
    expect((await service.call(method, path, body)).status).toBeLessThan(300);
  });

  it('two chats that are sent at once on one session are one answer and one refusal', async () => {
    const { service, model, say } = await startChat(inTurn({ content: 'Yes.', delayMs: 300 }));
    await service.session([], { id: 's' });
    const answers = await Promise.all(['One', 'Two'].map((message) => say({ sessionId: 's', message })));
    expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 409]);
    const won = answers[0]?.status === 200 ? 'One' : 'Two';
    expect(await service.messages('s')).toEqual([user(won), assistant('Yes.')]);
    expect(model.bodies).toHaveLength(1);
  });

  it('deleting the session ends it, and the request to the endpoint', async () => {
    const { service, model, say } = await startChat(inTurn({ hang: true }));
    await service.session(turns(4, 100), { id: 's' });
    const chatting = say({ sessionId: 's', message: 'One' }, 'k');
    await received(model, 1);
    const deletedAt = performance.now();
    expect((await service.call('DELETE', '/sessions/s')).status).toBe(204);
    const answer = await chatting;
    expect([answer.status, answer.body.code, answer.body.sessionId]).toEqual([404, 'SESSION_NOT_FOUND', 's']);
    expect((await model.server.peerClosed(0)) - deletedAt).toBeLessThan(1_000);
    expect(service.sql('SELECT pk FROM messages')).toEqual([]);
    expect((await say({ sessionId: 's', message: 'One' }, 'k')).body.code).toBe('SESSION_NOT_FOUND');
  });

  it('a lease that ran out, with the session in other hands since, ends it without a trace', async () => {
    const { service, model, say } = await startChat(
      inTurn({ content: 'Late.', delayMs: 600 }, { content: 'Yes.' }),
      {
        variables: { COMPACTION_LEASE_MS: '60000', MAIN_WIRE: 'strict' },
      },
    );
    await service.session([], { id: 's' });
    const slow = say({ sessionId: 's', message: 'One' }, 'k');
    await received(model, 1);
    // As after a pause of the process that was longer than its lease.
    service.sql('UPDATE sessions SET turn_expires_at = 1');
    expect((await say({ sessionId: 's', message: 'Two' })).status).toBe(200);
    const lost = await slow;
    expect([lost.status, lost.body.code]).toEqual([409, 'SESSION_CHANGED']);
    expect(await service.messages('s')).toEqual([user('One'), user('Two'), assistant('Yes.')]);
    expect(service.sql('SELECT turn_owner, turn_position FROM sessions')).toEqual([
      { turn_owner: null, turn_position: null },
    ]);
  });
});
