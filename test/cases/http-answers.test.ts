import { describe, expect, it } from 'vitest';
import { turns, user } from '../support/messages.js';
import { gate, lastCompaction, requestsAt, startWithModel } from './session-state.js';

describe('a session and its compaction', () => {
  it('are null first and whole afterwards, and say what is in the database', async () => {
    const { service } = await startWithModel({ content: 'S1' });
    const id = await service.session(turns(8, 100), { title: 'Trip', metadata: { a: null } });
    const before = await service.call('GET', `/sessions/${id}`);
    expect(before.body).toMatchObject({
      compact_summary: null,
      compact_size: 0,
      closed_at: null,
      agent: null,
    });
    expect((await service.call('GET', `/sessions/${id}/compactions`)).body.data).toEqual([]);

    const { status, body } = await service.compact(id, { instructions: 'names', keepRecent: 1 });

    expect(status).toBe(200);
    expect(Object.keys(body)).toEqual([
      'sessionId',
      'compactedCount',
      'newSize',
      'alreadyUpToDate',
      'session',
      'compaction',
    ]);
    const [row] = rowsOf(service.sql('SELECT * FROM sessions'));
    const [record] = rowsOf(service.sql('SELECT * FROM compactions'));
    expect(body.session).toEqual({
      id,
      agent: null,
      parent_session_id: null,
      kind: 'manual',
      status: 'open',
      title: 'Trip',
      metadata: { a: null },
      compact_summary: row?.['compact_summary'],
      compact_size: row?.['compact_size'],
      compact_count: row?.['compact_count'],
      message_count: row?.['message_count'],
      input_tokens: 0,
      output_tokens: 0,
      revision: row?.['revision'],
      auto_compaction: { state: 'on', failures: 0, error: null },
      version: row?.['version'],
      created_at: isoOf(row?.['created_at']),
      updated_at: isoOf(row?.['updated_at']),
      closed_at: null,
    });
    expect(body.session).toMatchObject({ compact_summary: 'S1', compact_size: 4, message_count: 8 });
    expect(body.compaction).toEqual({
      id: record?.['id'],
      predecessor_id: null,
      trigger: 'manual',
      outcome: 'completed',
      error_code: null,
      error_detail: null,
      from_size: 0,
      to_size: 4,
      compact_count: 50,
      keep_recent: 1,
      instructions: 'names',
      summary: 'S1',
      chars_before: 800,
      chars_after: 402,
      model: 'stub-1',
      requests: 1,
      usage: { input_tokens: 100, output_tokens: 10 },
      duration_ms: record?.['duration_ms'],
      created_at: isoOf(record?.['created_at']),
      finished_at: isoOf(record?.['finished_at']),
    });
    expect((await service.call('GET', `/sessions/${id}`)).body).toEqual(body.session);
    expect(await lastCompaction(service, id)).toEqual(body.compaction);
    expect((await service.call('GET', '/sessions')).body.data).toEqual([body.session]);
  });
});

const isoOf = (ms: unknown) => new Date(Number(ms)).toISOString();
const rowsOf = (rows: readonly unknown[]) => rows.map((row) => Object.fromEntries(Object.entries(row ?? {})));

describe('the five ends of a compact call can be told apart', () => {
  it('done', async () => {
    const { service } = await startWithModel({ content: 'S1' });
    const id = await service.session(turns(8, 100));
    const { status, body } = await service.compact(id);
    expect(status).toBe(200);
    expect(body).toMatchObject({ sessionId: id, compactedCount: 4, newSize: 4, alreadyUpToDate: false });
    expect(body.compaction).toMatchObject({ from_size: 0, to_size: 4, chars_before: 800, chars_after: 402 });
    expect(body.reason).toBeUndefined();
  });

  it('nothing to do, with the time of the last one that did something', async () => {
    const { service, stub } = await startWithModel({ content: 'S1' });
    const id = await service.session([user('one')]);
    const never = await service.compact(await service.session([]));
    expect(never.body).toMatchObject({ alreadyUpToDate: true, reason: 'nothing_new', lastCompactedAt: null });
    const done = await service.compact(id);

    const { status, body } = await service.compact(id);

    expect(status).toBe(200);
    expect(body).toEqual({
      sessionId: id,
      compactedCount: 0,
      newSize: 1,
      alreadyUpToDate: true,
      reason: 'nothing_new',
      lastCompactedAt: done.body.compaction.finished_at,
      session: done.body.session,
    });
    expect(stub.server.requests.length).toBe(1);
  });

  it('rejected, because the reply was empty', async () => {
    const { service } = await startWithModel({ content: '' });
    const id = await service.session(turns(8, 100));
    const { status, body } = await service.compact(id);
    expect(status).toBe(500);
    expect(body).toMatchObject({
      code: 'EMPTY_SUMMARY',
      detail: 'LLM returned an empty summary',
      retryable: true,
      compaction: { from_size: 0, to_size: 0, outcome: 'failed' },
    });
  });

  it('the endpoint is down', async () => {
    const { service, stub } = await startWithModel({ content: 'S1' });
    await stub.server.stop();
    const id = await service.session(turns(8, 100));
    const { status, body } = await service.compact(id);
    expect(status).toBe(502);
    expect(body).toMatchObject({
      code: 'MODEL_UNAVAILABLE',
      retryable: true,
      compaction: { from_size: 0, to_size: 0, outcome: 'failed' },
    });
  });

  it('another one is at work', async () => {
    const door = gate();
    const { service, stub } = await startWithModel(async () => {
      await door.opened;
      return { content: 'S1' };
    });
    const id = await service.session(turns(8, 100));
    const first = service.compact(id);
    await requestsAt(stub, 1);
    const { status, body, headers } = await service.compact(id);
    expect(status).toBe(409);
    expect(body).toMatchObject({ code: 'COMPACTION_IN_PROGRESS', retryable: true });
    expect(Number(headers['retry-after'])).toBeGreaterThan(0);
    expect(headers['x-should-retry']).toBe('true');
    door.open();
    expect((await first).status).toBe(200);
  });
});

describe('equal messages', () => {
  it('sent again are stored again', async () => {
    const { service } = await startWithModel({ content: 'S1' });
    const id = await service.session([]);
    const body = { messages: [user('again')] };
    const answers = await Promise.all(
      [0, 1].map(() => service.call('POST', `/sessions/${id}/messages`, body)),
    );
    expect(answers.map(({ status }) => status)).toEqual([201, 201]);
    expect(new Set(answers.map((answer) => answer.body.data[0]?.id)).size).toBe(2);
    expect(await service.messages(id)).toEqual([user('again'), user('again')]);
  });
});
