import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { turns } from '../support/messages.js';
import { modelAt, startService, type TestService } from '../support/service.js';
import { compactionsOf, gate, lastCompaction, requestsAt, startWithModel, stateOf } from './session-state.js';

/** Leaves the session as a process does that was killed while its model wrote. */
function leaveAsKilled(service: TestService, id: string, leaseMs: number): void {
  service.sql(
    "UPDATE sessions SET lease_owner = 'dead', lease_expires_at = ? WHERE id = ?",
    Date.now() + leaseMs,
    id,
  );
  service.sql(
    `INSERT INTO compactions (session_pk, id, lease_owner, "trigger", outcome, from_size, to_size, compact_count,
       keep_recent, chars_before, chars_after, model, requests, duration_ms, created_at)
     SELECT pk, 'cmp_dead', 'dead', 'manual', 'running', 0, 0, 50, 0, 1000, 1000, 'stub-1', 0, 0, 0
     FROM sessions WHERE id = ?`,
    id,
  );
}

describe('a compaction whose process died', () => {
  it('blocks the next one only until its lease has run out', async () => {
    const { service } = await startWithModel({ content: 'S1' });
    const id = await service.session(turns(10, 100));
    leaveAsKilled(service, id, 1_000);

    const early = await service.compact(id);
    expect({ status: early.status, code: early.body.code }).toEqual({
      status: 409,
      code: 'COMPACTION_IN_PROGRESS',
    });
    expect(early.headers['retry-after']).toBe('1');
    await delay(1_050);

    expect((await service.compact(id)).status).toBe(200);
    expect(
      (await compactionsOf(service, id)).map(({ outcome, error_code }) => ({ outcome, error_code })),
    ).toEqual([
      { outcome: 'completed', error_code: null },
      { outcome: 'failed', error_code: 'INTERRUPTED' },
    ]);
  });

  it('is not shown as running once its lease has run out', async () => {
    const { service } = await startWithModel({ content: 'S1' });
    const id = await service.session(turns(10, 100));
    leaveAsKilled(service, id, -1);

    const record = await lastCompaction(service, id);

    expect({ outcome: record.outcome, code: record.error_code }).toEqual({
      outcome: 'failed',
      code: 'INTERRUPTED',
    });
  });

  it('says how long the rest of its lease is', async () => {
    const { service } = await startWithModel({ content: 'S1' });
    const id = await service.session(turns(10, 100));
    leaveAsKilled(service, id, 20_000);
    expect((await service.compact(id)).headers['retry-after']).toMatch(/^(1[5-9]|20)$/);
    expect((await lastCompaction(service, id)).outcome).toBe('running');
  });
});

describe('a lease', () => {
  it('is kept while the model takes longer than it lasts', async () => {
    const { service, stub } = await startWithModel(
      { content: 'S1', delayMs: 1_800 },
      { COMPACTION_LEASE_MS: '600' },
    );
    const id = await service.session(turns(10, 100));
    const working = service.compact(id);
    await requestsAt(stub, 1);
    await delay(1_200);
    expect((await service.compact(id)).body.code).toBe('COMPACTION_IN_PROGRESS');
    expect((await working).status).toBe(200);
    expect(stub.server.requests.length).toBe(1);
  });

  it('that was lost to another compaction bars the late one from writing', async () => {
    const door = gate();
    const { service, stub } = await startWithModel(async (_prompt, index) => {
      if (index === 0) await door.opened;
      return { content: index === 0 ? 'late' : 'in time' };
    });
    const other = await startService(modelAt(stub.url), service.file);
    const id = await service.session(turns(10, 100));
    const late = service.compact(id);
    await requestsAt(stub, 1);
    service.sql('UPDATE sessions SET lease_expires_at = 0 WHERE id = ?', id);
    const inTime = await other.compact(id);
    const between = stateOf(service, id);

    door.open();
    const answer = await late;

    expect(inTime.status).toBe(200);
    expect({ status: answer.status, code: answer.body.code }).toEqual({
      status: 409,
      code: 'SESSION_CHANGED',
    });
    expect(stateOf(service, id)).toEqual(between);
    expect((await compactionsOf(service, id)).map(({ outcome, usage }) => ({ outcome, usage }))).toEqual([
      { outcome: 'completed', usage: { input_tokens: 100, output_tokens: 10 } },
      { outcome: 'failed', usage: { input_tokens: 100, output_tokens: 10 } },
    ]);
  });

  it('that ran out bars the late one from writing even when nobody else took it', async () => {
    const door = gate();
    const { service, stub } = await startWithModel(async () => {
      await door.opened;
      return { content: 'late' };
    });
    const id = await service.session(turns(10, 100));
    const before = stateOf(service, id);
    const late = service.compact(id);
    await requestsAt(stub, 1);
    service.sql('UPDATE sessions SET lease_expires_at = 1 WHERE id = ?', id);
    door.open();
    expect((await late).body.code).toBe('SESSION_CHANGED');
    expect(stateOf(service, id)).toEqual(before);
    expect((await service.compact(id)).status).toBe(200);
  });

  it('is given back when the service stops while the model writes', async () => {
    const { service, stub } = await startWithModel((_prompt, index) =>
      index === 0 ? { hang: true } : { content: 'S1' },
    );
    const id = await service.session(turns(10, 100));
    const before = stateOf(service, id);
    const working = service.compact(id);
    await requestsAt(stub, 1);

    await service.close();

    const { status, body } = await working;
    expect({ status, code: body.code }).toEqual({ status: 503, code: 'SHUTTING_DOWN' });
    await stub.server.peerClosed(0);
    expect(stateOf(service, id)).toEqual(before);
    const next = await startService(modelAt(stub.url), service.file);
    expect(await compactionsOf(next, id)).toMatchObject([{ outcome: 'failed', error_code: 'SHUTTING_DOWN' }]);
    expect((await next.compact(id)).body).toMatchObject({ newSize: 5 });
  });
});

describe('a compacted session', () => {
  it('reads the same, byte for byte, after a restart and from a second service on the file', async () => {
    const summary = 'Deck A: “closed”\n\t\u2028 🛳 \\ "quoted" é e\u0301 \u200f';
    const { service, stub } = await startWithModel({ content: summary });
    const odd = {
      content: 'b',
      role: 'user',
      '10': 1,
      '2': [1.0, 1e3],
      nested: { z: null, a: 1 },
    };
    const id = await service.session([{ role: 'system', content: 'Be brief.' }, ...turns(10, 100)]);
    await service.call(
      'POST',
      `/sessions/${id}/messages`,
      `{"messages":[${JSON.stringify(odd)},{"role":"user","content":"x","big":12345678901234567890}]}`,
    );
    await service.compact(id);
    const dump = async (from: TestService) =>
      Promise.all(
        ['context', 'messages?limit=200', 'compactions', ''].map(
          async (part) => (await from.call('GET', `/sessions/${id}${part === '' ? '' : `/${part}`}`)).text,
        ),
      );
    const first = await dump(service);

    const second = await startService(modelAt(stub.url), service.file);
    expect(await dump(second)).toEqual(first);
    await service.close();
    const restarted = await startService(modelAt(stub.url), service.file);
    expect(await dump(restarted)).toEqual(first);
    expect(first[0]?.includes('"big":12345678901234567890')).toBe(true);
    expect(await dump(second)).toEqual(first);
  });
});
