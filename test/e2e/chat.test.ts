import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { chatAt, eventsOf, inTurn, startStrictModel } from '../support/chat.js';
import { assistant, result, user } from '../support/messages.js';
import { calling, delta, type ModelStub, type StubScript } from '../support/model-stub.js';
import { type ServiceProcess, startProcess } from '../support/process.js';
import { type AnyBody, temporaryFolder } from '../support/service.js';
import { sqlAt } from '../support/sql.js';
import { databaseUrlOf } from '../support/tested-store.js';

const LEASE_MS = 1_500;

/** Processes on one database, and the endpoint that they all use. */
async function startAll(script: StubScript, variables: object = {}) {
  const model = await startStrictModel(script);
  const file = join(temporaryFolder(), 'compactd.db');
  const all = chatAt(model.url, model.url, {
    DATABASE_URL: `file:${file}`,
    COMPACTION_LEASE_MS: String(LEASE_MS),
    ...variables,
  });
  const start = () =>
    startProcess(Object.fromEntries(Object.entries(all).map(([name, value]) => [name, String(value)])));
  const url = await databaseUrlOf(file);
  const sql = (statement: string): unknown[] => sqlAt(url, statement);
  return { model, start, sql };
}

interface Said {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  readonly body: AnyBody;
}

/** A chat request; what could not be answered any more is status 0. */
async function say({ url }: ServiceProcess, body: object, key?: string): Promise<Said> {
  try {
    const headers = { 'content-type': 'application/json' };
    const response = await fetch(`${url}/agents/clerk/chat`, {
      method: 'POST',
      body: JSON.stringify(body),
      headers: key === undefined ? headers : { ...headers, 'idempotency-key': key },
    });
    const text = await response.text();
    const isJson = response.headers.get('content-type')?.includes('json') ?? false;
    return {
      status: response.status,
      headers: response.headers,
      text,
      body: JSON.parse(isJson ? text : '{}'),
    };
  } catch {
    return { status: 0, headers: new Headers(), text: '', body: JSON.parse('{}') };
  }
}

/** Sends it again while it is refused because it is, or seems to be, at work; with the codes of the refusals. */
async function sayUntilDone(process: ServiceProcess, body: object, key: string) {
  const refusals = new Set<string>();
  const until = performance.now() + LEASE_MS + 3_000;
  for (;;) {
    const said = await say(process, body, key);
    if (said.status !== 409 || performance.now() > until) return { said, refusals: [...refusals] };
    expect(Number(said.headers.get('retry-after'))).toBeGreaterThanOrEqual(1);
    expect(Number(said.headers.get('retry-after'))).toBeLessThanOrEqual(2);
    refusals.add(said.body.code);
    await sleep(100);
  }
}

const received = async ({ bodies }: ModelStub, count: number): Promise<void> => {
  while (bodies.length < count) await sleep(5);
};
const messagesOf = async (process: ServiceProcess, id: string) =>
  (await process.call('GET', `/sessions/${id}/messages`)).body.data.map(({ message }) => message);
const define = (process: ServiceProcess, name: string, definition: object = {}) =>
  process.call('PUT', `/agents/${name}`, definition);

describe('chats of two processes on one database', { timeout: 60_000 }, () => {
  it('take turns on a session, and share their keys', async () => {
    const { model, start } = await startAll((prompt) => ({ content: `Yes, ${prompt}`, delayMs: 500 }));
    const [one, two] = await Promise.all([start(), start()]);
    await define(one, 'clerk');
    await one.call('POST', '/sessions', { id: 's' });
    const [a, b] = await Promise.all([
      say(one, { sessionId: 's', message: 'One' }),
      say(two, { sessionId: 's', message: 'Two' }),
    ]);
    expect([a.status, b.status].toSorted()).toEqual([200, 409]);
    const refused = a.status === 409 ? a : b;
    expect(refused.body.code).toBe('SESSION_BUSY');
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThanOrEqual(1);
    const won = a.status === 200 ? 'One' : 'Two';
    expect(await messagesOf(two, 's')).toEqual([user(won), assistant(`Yes, ${won}`)]);
    expect(model.bodies).toHaveLength(1);

    const body = { message: 'Three' };
    const both = await Promise.all([say(one, body, 'k'), say(two, body, 'k')]);
    expect(both.map(({ status }) => status).toSorted()).toEqual([200, 409]);
    expect(both.find(({ status }) => status === 409)?.body.code).toBe('IDEMPOTENCY_KEY_IN_USE');
    const answer = both.find(({ status }) => status === 200)?.text;
    for (const process of [one, two]) {
      const again = await say(process, body, 'k');
      expect([again.status, again.text, again.headers.get('idempotency-replayed')]).toEqual([
        200,
        answer,
        'true',
      ]);
    }
    expect(model.bodies).toHaveLength(2);
  });

  it('keep a session from the other one while they run, all but its end', async () => {
    const { model, start, sql } = await startAll(inTurn({ hang: true }));
    const [one, two] = await Promise.all([start(), start()]);
    await define(one, 'clerk');
    await one.call('POST', '/sessions', { id: 's' });
    const chatting = say(one, { sessionId: 's', message: 'One' });
    await received(model, 1);
    // Longer than a lease: it is renewed.
    await sleep(LEASE_MS + 300);
    const refused = [
      await two.call('POST', '/sessions/s/messages', { messages: [user('Two')] }),
      await two.call('POST', '/sessions/s/reset'),
      await two.call('POST', '/sessions/s/close'),
      await two.call('POST', '/agents/clerk/chat', { sessionId: 's', message: 'Two' }),
    ];
    expect(refused.map(({ status, body }) => [status, body.code])).toEqual(
      refused.map(() => [409, 'SESSION_BUSY']),
    );
    const deletedAt = performance.now();
    expect((await two.call('DELETE', '/sessions/s')).status).toBe(204);
    const ended = await chatting;
    expect([ended.status, ended.body.code]).toEqual([404, 'SESSION_NOT_FOUND']);
    // Noticed when the lease is renewed.
    expect((await model.server.peerClosed(0)) - deletedAt).toBeLessThan(LEASE_MS);
    expect(sql('SELECT (SELECT count(*) FROM sessions) AS s, (SELECT count(*) FROM messages) AS m')).toEqual([
      { s: 0, m: 0 },
    ]);
  });
});

describe('a process that stops in a chat', { timeout: 60_000 }, () => {
  it.each([true, false])(
    'says so within its grace time, and the same key goes on (stream: %s)',
    async (stream) => {
      const { model, start, sql } = await startAll(
        inTurn({ stream: [delta('Hel')], hang: true }, { content: 'Yes.' }),
        { SHUTDOWN_GRACE_MS: '300' },
      );
      const process = await start();
      await define(process, 'clerk');
      const body = { message: 'KEEP-1', stream };
      const chatting = say(process, body, 'k');
      await received(model, 1);
      await sleep(200);
      const stoppedAt = performance.now();
      expect(await process.end('SIGTERM')).toEqual({ code: 0, signal: null });
      expect(performance.now() - stoppedAt).toBeLessThan(3_000);
      const ended = await chatting;
      const events = eventsOf(ended.text);
      const problem = stream ? events.at(-1)?.data : ended.body;
      if (stream)
        expect(events.map(({ event }) => event)).toEqual(['session-opened', 'message-delta', 'error']);
      expect([ended.status, problem]).toEqual([
        stream ? 200 : 503,
        expect.objectContaining({ code: 'SHUTTING_DOWN', status: 503, retryable: true }),
      ]);
      const { sessionId = '' } = problem ?? {};
      expect(sql('SELECT id, turn_owner, turn_position, message_count FROM sessions')).toEqual([
        { id: sessionId, turn_owner: null, turn_position: 0, message_count: 1 },
      ]);

      const again = await start();
      const said = await say(again, body, 'k');
      const done = stream ? eventsOf(said.text).at(-1)?.data : said.body;
      expect(done).toMatchObject({ sessionId, status: 'completed', message: assistant('Yes.') });
      expect(await messagesOf(again, sessionId)).toEqual([user('KEEP-1'), assistant('Yes.')]);
    },
  );

  it('ends the turns that are done in time, and takes no new ones', async () => {
    const { model, start } = await startAll(inTurn({ stream: [delta('Hel'), 800, delta('lo'), '[DONE]'] }), {
      SHUTDOWN_GRACE_MS: '10000',
    });
    const process = await start();
    await define(process, 'clerk');
    const chatting = say(process, { message: 'Hello', stream: true });
    await received(model, 1);
    const ended = process.end('SIGTERM');
    await sleep(100);
    const late = await say(process, { message: 'Late' });
    expect([0, 503]).toContain(late.status);
    expect(eventsOf((await chatting).text).at(-1)).toMatchObject({
      event: 'turn-completed',
      data: { message: assistant('Hello') },
    });
    expect(await ended).toEqual({ code: 0, signal: null });
    expect(model.bodies).toHaveLength(1);
  });
});

describe('a process that is killed in a chat', { timeout: 60_000 }, () => {
  it('leaves the message, and the same key goes on once the lease has run out', async () => {
    const { model, start, sql } = await startAll(inTurn({ hang: true }, { content: 'Yes.' }));
    // Both at once: the second is there before the lease of the first runs out.
    const [process, again] = await Promise.all([start(), start()]);
    await define(process, 'clerk');
    const body = { message: 'KEEP-1' };
    const chatting = say(process, body, 'k');
    await received(model, 1);
    await process.end('SIGKILL');
    expect((await chatting).status).toBe(0);
    expect(sql('SELECT count(*) AS n FROM messages')).toEqual([{ n: 1 }]);
    const { said, refusals } = await sayUntilDone(again, body, 'k');
    expect(refusals).toEqual(['IDEMPOTENCY_KEY_IN_USE']);
    expect(said.status).toBe(200);
    const { sessionId } = said.body;
    expect(await messagesOf(again, sessionId)).toEqual([user('KEEP-1'), assistant('Yes.')]);
    expect((await say(again, body, 'k')).text).toBe(said.text);
    expect(model.bodies).toHaveLength(2);
  });

  it('is forgotten by the session once its lease has run out: a new message is accepted', async () => {
    const { model, start } = await startAll(inTurn({ hang: true }, { content: 'Yes.' }), {
      MAIN_WIRE: 'strict',
    });
    const [process, again] = await Promise.all([start(), start()]);
    await define(process, 'clerk');
    await process.call('POST', '/sessions', { id: 's' });
    const chatting = say(process, { sessionId: 's', message: 'One' });
    await received(model, 1);
    await process.end('SIGKILL');
    await chatting;
    const { said, refusals } = await sayUntilDone(again, { sessionId: 's', message: 'Two' }, 'k2');
    expect([said.status, refusals]).toEqual([200, ['SESSION_BUSY']]);
    expect(await messagesOf(again, 's')).toEqual([user('One'), user('Two'), assistant('Yes.')]);
  });

  it('within a subagent runs its call anew, and closes what was left of it, down to the last level', async () => {
    // Killed while the second level is at work: it alone does not answer the first time.
    let killed = false;
    const { model, start, sql } = await startAll((_, __, { body }) => {
      const answered = body.includes('"role":"tool"');
      if (body.includes('"CLERK"'))
        return answered ? { content: 'Done.' } : calling(['c1', 'one', '{"input":"go"}']);
      if (body.includes('"ONE"'))
        return answered ? { content: 'from one' } : calling(['c2', 'two', '{"input":"on"}']);
      return killed ? { content: 'from two' } : { hang: true };
    });
    const process = await start();
    await define(process, 'two', { systemPrompt: 'TWO' });
    await define(process, 'one', { systemPrompt: 'ONE', subagents: ['two'] });
    await define(process, 'clerk', { systemPrompt: 'CLERK', subagents: ['one'] });
    const body = { message: 'Go.' };
    const chatting = say(process, body, 'k');
    await received(model, 3);
    await process.end('SIGKILL');
    await chatting;
    killed = true;

    const again = await start();
    const { said } = await sayUntilDone(again, body, 'k');
    expect(said.body).toMatchObject({ status: 'completed', message: assistant('Done.') });
    const { sessionId } = said.body;
    const stored = await messagesOf(again, sessionId);
    expect(stored).toHaveLength(4);
    expect(stored[2]).toEqual(result('c1', 'from one'));
    // The clerk was not asked a second time for what it had said already.
    expect(model.bodies.filter(({ messages }) => messages[0]?.content === 'CLERK')).toHaveLength(2);
    const rows = sql(
      'SELECT agent, status, turn_owner AS owner, turn_position AS turn, message_count AS n FROM sessions ORDER BY pk',
    );
    const closed = { status: 'closed', owner: null, turn: null };
    expect(rows).toEqual([
      { agent: 'clerk', status: 'open', owner: null, turn: null, n: 4 },
      { agent: 'one', ...closed, n: 2 },
      { agent: 'two', ...closed, n: 1 },
      { agent: 'one', ...closed, n: 4 },
      { agent: 'two', ...closed, n: 2 },
    ]);
  });
});
