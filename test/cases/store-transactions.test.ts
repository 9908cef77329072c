import { describe, expect, it } from 'vitest';
import { turns, user } from '../support/messages.js';
import type { TestService } from '../support/service.js';
import { itOnSqlite, TESTED_STORE } from '../support/tested-store.js';
import { compactionsOf, lastCompaction, startWithModel, stateOf } from './session-state.js';

/** Makes the database fail at one statement, as a bug or a broken disk would in the middle of a transaction. */
function failAt(service: TestService, statement: string, condition = '1 = 1', action = 'ABORT'): void {
  const trigger = `CREATE TRIGGER forced_fault ${statement} FOR EACH ROW WHEN (${condition})`;
  if (TESTED_STORE === 'sqlite') {
    service.sql(`${trigger} BEGIN SELECT RAISE(${action}, 'forced fault'); END`);
    return;
  }
  service.sql(
    "CREATE FUNCTION forced_fault() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE 'forced fault'; END $$",
  );
  service.sql(`${trigger} EXECUTE FUNCTION forced_fault()`);
}

const heal = (service: TestService) =>
  service.sql(TESTED_STORE === 'sqlite' ? 'DROP TRIGGER forced_fault' : 'DROP FUNCTION forced_fault CASCADE');

/** All rows of the database. */
const everything = (service: TestService) =>
  ['sessions', 'messages', 'compactions'].map((table) => service.sql(`SELECT * FROM ${table} ORDER BY pk`));

describe('a fault in the middle of a transaction leaves nothing of it', () => {
  it('in creating a session with messages', async () => {
    const { service } = await startWithModel({ content: 'S1' });
    failAt(service, 'BEFORE UPDATE OF message_count ON sessions');
    const body = { id: 's1', messages: turns(3, 10) };
    const { status, text } = await service.call('POST', '/sessions', body);
    expect(status).toBe(500);
    expect(text.includes('forced fault')).toBe(false);
    expect(everything(service)).toEqual([[], [], []]);
    heal(service);
    expect((await service.call('POST', '/sessions', body)).status).toBe(201);
  });

  it('in appending: after the messages were written, before the session was', async () => {
    const { service } = await startWithModel({ content: 'S1' });
    const id = await service.session(turns(4, 100));
    const before = everything(service);
    failAt(service, 'BEFORE UPDATE OF message_count ON sessions');

    const failed = await service.call('POST', `/sessions/${id}/messages`, { messages: turns(3, 10) });

    expect({ status: failed.status, code: failed.body.code }).toEqual({
      status: 500,
      code: 'INTERNAL_ERROR',
    });
    expect(everything(service)).toEqual(before);
    heal(service);
    const { body } = await service.call('POST', `/sessions/${id}/messages`, { messages: [user('next')] });
    expect(body.data).toMatchObject([{ seq: 4, position: 4 }]);
  });

  it('in appending: at the second of three messages', async () => {
    const { service } = await startWithModel({ content: 'S1' });
    const id = await service.session(turns(4, 100));
    const before = everything(service);
    failAt(service, 'AFTER INSERT ON messages', 'NEW.seq = 5');
    expect((await service.call('POST', `/sessions/${id}/messages`, { messages: turns(3, 10) })).status).toBe(
      500,
    );
    expect(everything(service)).toEqual(before);
  });

  it.each([
    {
      name: 'when the summary is written',
      fault: 'BEFORE UPDATE OF compact_summary ON sessions',
      condition: '1 = 1',
    },
    {
      name: 'after the summary, when the record is written',
      fault: 'BEFORE UPDATE OF to_size ON compactions',
      condition: "NEW.outcome = 'completed'",
    },
    {
      name: 'after summary and record, when the lease is given back',
      fault: 'BEFORE UPDATE OF lease_owner ON sessions',
      condition: 'NEW.lease_owner IS NULL AND NEW.compact_summary IS NOT NULL',
    },
  ])('in compacting: $name', async ({ fault, condition }) => {
    const { service, stub } = await startWithModel({ content: 'S1' });
    const id = await service.session(turns(8, 100));
    const before = stateOf(service, id);
    failAt(service, fault, condition);

    const failed = await service.compact(id);

    expect({ status: failed.status, code: failed.body.code }).toEqual({
      status: 500,
      code: 'INTERNAL_ERROR',
    });
    expect(failed.text.includes('forced fault')).toBe(false);
    expect(stateOf(service, id)).toEqual(before);
    expect(await lastCompaction(service, id)).toMatchObject({
      outcome: 'failed',
      error_code: 'INTERNAL_ERROR',
      to_size: 0,
      summary: null,
      usage: { input_tokens: 100, output_tokens: 10 },
    });
    heal(service);
    const { status, body } = await service.compact(id);
    expect(status).toBe(200);
    expect(body.session).toMatchObject({ compact_summary: 'S1', compact_size: 4 });
    expect(stub.server.requests.length).toBe(2);
  });

  it('in opening a compaction: no lease is left behind, and no request was sent', async () => {
    const { service, stub } = await startWithModel({ content: 'S1' });
    const id = await service.session(turns(8, 100));
    const before = everything(service);
    failAt(service, 'AFTER INSERT ON compactions');
    expect((await service.compact(id)).status).toBe(500);
    expect(everything(service)).toEqual(before);
    expect(stub.server.requests.length).toBe(0);
    heal(service);
    expect((await service.compact(id)).status).toBe(200);
  });

  it.each([
    {
      name: 'resetting',
      method: 'POST',
      path: '/reset',
      fault: 'BEFORE UPDATE OF compact_summary ON sessions',
    },
    { name: 'deleting', method: 'DELETE', path: '', fault: 'AFTER DELETE ON sessions' },
    {
      name: 'deleting, at the last of its records',
      method: 'DELETE',
      path: '',
      fault: 'AFTER DELETE ON compactions',
    },
  ] as const)('in $name', async ({ method, path, fault }) => {
    const { service } = await startWithModel({ content: 'S1' });
    const id = await service.session(turns(8, 100));
    await service.compact(id);
    const before = everything(service);
    failAt(service, fault);

    const failed = await service.call(method, `/sessions/${id}${path}`);

    expect(failed.status).toBe(500);
    expect(everything(service)).toEqual(before);
    heal(service);
    expect((await service.compact(id)).status).toBe(200);
    expect((await service.call(method, `/sessions/${id}${path}`)).status).toBe(method === 'POST' ? 200 : 204);
    expect(service.sql('SELECT count(*) AS n FROM messages')).toEqual([{ n: 0 }]);
    expect(service.sql('SELECT count(*) AS n FROM compactions')).toEqual([{ n: 0 }]);
  });
});

describe('writes that share a commit', () => {
  const appendTo = (service: TestService, ids: readonly string[]) =>
    Promise.all(
      ids.map((id) =>
        service.call('POST', `/sessions/${id}/messages`, { messages: [user('one'), user('two')] }),
      ),
    );

  it('do not fall with one of them that fails', async () => {
    const { service } = await startWithModel({ content: 'S1' });
    const ids = ['a', 'bad', 'c', 'd'];
    for (const id of ids) await service.session([], { id });
    failAt(service, 'BEFORE UPDATE OF message_count ON sessions', "NEW.id = 'bad'");
    expect((await appendTo(service, ids)).map(({ status }) => status)).toEqual([201, 500, 201, 201]);
    expect(service.sql('SELECT id, message_count AS n FROM sessions ORDER BY id')).toEqual([
      { id: 'a', n: 2 },
      { id: 'bad', n: 0 },
      { id: 'c', n: 2 },
      { id: 'd', n: 2 },
    ]);
    expect(service.sql('SELECT count(*) AS n FROM messages')).toEqual([{ n: 6 }]);
  });

  itOnSqlite(
    'all fail, and may be sent again, when the database undoes the whole commit',
    'elsewhere each has its own commit',
    async () => {
      const { service } = await startWithModel({ content: 'S1' });
      const ids = ['a', 'bad', 'c'];
      for (const id of ids) await service.session([], { id });
      failAt(service, 'BEFORE UPDATE OF message_count ON sessions', "NEW.id = 'bad'", 'ROLLBACK');
      const answers = await appendTo(service, ids);
      const stored = (await Promise.all(ids.map((id) => service.messages(id)))).map(({ length }) => length);
      // Whoever was told 201 finds the messages; whoever was not finds none, and is told to try again.
      expect(stored).toEqual(answers.map(({ status }) => (status === 201 ? 2 : 0)));
      expect(answers[1]?.body).toMatchObject({ code: 'STORE_UNAVAILABLE', retryable: true });
      heal(service);
      expect((await appendTo(service, ids)).map(({ status }) => status)).toEqual([201, 201, 201]);
    },
  );
});

it('a failed compaction is on record once, whatever happens', async () => {
  const { service } = await startWithModel({ content: 'S1' });
  const id = await service.session(turns(8, 100));
  failAt(service, 'BEFORE UPDATE OF compact_summary ON sessions');
  await service.compact(id);
  heal(service);
  await service.compact(id);
  expect((await compactionsOf(service, id)).map(({ outcome }) => outcome)).toEqual(['completed', 'failed']);
});
