import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { Attempt } from '../../src/compaction/attempt.js';
import type { CompactResult } from '../../src/compaction/compact-result.js';
import { KeyClaim } from '../../src/compaction/key-claim.js';
import { plannerOf } from '../../src/compaction/planner.js';
import { findSession } from '../../src/db/repositories/sessions.js';
import { findAnswer } from '../../src/idempotency/claims.js';
import { compactionsOf, gate, lastCompaction, requestsAt, startWithModel } from '../cases/session-state.js';
import { turns, user } from '../support/messages.js';
import { modelAt, startService } from '../support/service.js';
import { appendWith, compactWith, countOf, keysOf, outcome } from './keyed.js';

const DONE = [200, undefined, undefined];
const REPLAYED = [200, undefined, 'true'];
const IN_USE = [409, 'IDEMPOTENCY_KEY_IN_USE', undefined];
const REUSED = [422, 'IDEMPOTENCY_KEY_REUSED', undefined];

describe('a compaction with a key', () => {
  it('is done once, and answered the same whatever became of the session', async () => {
    const { service, stub } = await startWithModel((_, index) => ({ content: `S${index}` }));
    const id = await service.session(turns(10, 100));
    const first = await compactWith(service, id, 'k');
    expect(outcome(first)).toEqual(DONE);
    expect(first.body.session.compact_summary).toBe('S0');
    await service.compact(id);
    await service.call('POST', `/sessions/${id}/close`);
    const second = await compactWith(service, id, 'k');
    await service.call('DELETE', `/sessions/${id}`);
    const third = await compactWith(service, id, 'k');
    for (const answer of [second, third]) {
      expect(outcome(answer)).toEqual(REPLAYED);
      expect(answer.text).toBe(first.text);
    }
    expect(stub.server.requests.length).toBe(2);
    expect(keysOf(service)).toEqual([{ key: 'k', status: 'answered' }]);
  });

  it('is answered the same after a restart', async () => {
    const { service, stub } = await startWithModel({ content: 'S' });
    const id = await service.session(turns(10, 100));
    const first = await compactWith(service, id, 'k', { instructions: 'short' });
    await service.close();
    const next = await startService(modelAt(stub.url), service.file);
    const second = await compactWith(next, id, 'k', { instructions: 'short' });
    expect(outcome(second)).toEqual(REPLAYED);
    expect(second.text).toBe(first.text);
    expect(stub.server.requests.length).toBe(1);
  });

  it.each(['one service', 'two services on one file'])('is done once when 20 come to %s', async (where) => {
    const door = gate();
    const { service, stub } = await startWithModel(async () => {
      await door.opened;
      return { content: 'S' };
    });
    const other = where === 'one service' ? service : await startService(modelAt(stub.url), service.file);
    const id = await service.session(turns(10, 100));
    const all = Array.from({ length: 20 }, (_, i) => compactWith(i % 2 === 0 ? service : other, id, 'k'));
    await requestsAt(stub, 1);
    const early = await compactWith(other, id, 'k');
    expect(outcome(early)).toEqual(IN_USE);
    expect(early.headers['retry-after']).toMatch(/^(2[5-9]|30)$/);
    expect(early.headers['x-should-retry']).toBe('true');
    door.open();
    const answers = await Promise.all(all);
    const done = answers.filter(({ status }) => status === 200);
    expect(done.map(outcome)).toEqual([DONE]);
    expect(answers.filter(({ status }) => status !== 200).map(outcome)).toEqual(Array(19).fill(IN_USE));
    const after = await compactWith(other, id, 'k');
    expect(outcome(after)).toEqual(REPLAYED);
    expect(after.text).toBe(done[0]?.text);
    expect(stub.server.requests.length).toBe(1);
    expect(countOf(service, 'compactions')).toEqual({ n: 1 });
  });

  it('is told apart from another one on the session', async () => {
    const door = gate();
    const { service, stub } = await startWithModel(async () => {
      await door.opened;
      return { content: 'S' };
    });
    const id = await service.session(turns(10, 100));
    const working = compactWith(service, id, 'k');
    await requestsAt(stub, 1);
    expect(outcome(await compactWith(service, id, 'other'))[1]).toBe('COMPACTION_IN_PROGRESS');
    expect(outcome(await compactWith(service, id, 'k', { keepRecent: 1 }))).toEqual(REUSED);
    expect(keysOf(service)).toEqual([{ key: 'k', status: 'running' }]);
    door.open();
    await working;
    expect(outcome(await compactWith(service, id, 'other'))).toEqual(DONE);
  });

  it('keeps its key for as long as the model takes', async () => {
    const { service, stub } = await startWithModel(
      { content: 'S', delayMs: 1_800 },
      { COMPACTION_LEASE_MS: '600' },
    );
    const id = await service.session(turns(10, 100));
    const working = compactWith(service, id, 'k');
    await requestsAt(stub, 1);
    await delay(1_200);
    const early = await compactWith(service, id, 'k');
    expect(outcome(early)).toEqual(IN_USE);
    expect(early.headers['retry-after']).toBe('1');
    const done = await working;
    expect(outcome(done)).toEqual(DONE);
    expect((await compactWith(service, id, 'k')).text).toBe(done.text);
    expect(stub.server.requests.length).toBe(1);
  });

  it('with nothing to fold is answered the same later, when there is something', async () => {
    const { service, stub } = await startWithModel({ content: 'S' });
    const id = await service.session([]);
    const first = await compactWith(service, id, 'k');
    expect([first.body.alreadyUpToDate, first.body.reason]).toEqual([true, 'nothing_new']);
    await appendWith(service, 'a', { messages: turns(10, 100) }, id);
    const second = await compactWith(service, id, 'k');
    expect(outcome(second)).toEqual(REPLAYED);
    expect(second.text).toBe(first.text);
    expect(stub.server.requests.length).toBe(0);
  });

  it('that only previews needs none, and leaves it free', async () => {
    const { service } = await startWithModel({ content: 'S' });
    const id = await service.session(turns(10, 100));
    for (let i = 0; i < 2; i += 1) {
      expect(outcome(await compactWith(service, id, 'k', { dryRun: true }))).toEqual(DONE);
    }
    expect(keysOf(service)).toEqual([]);
    expect(outcome(await compactWith(service, id, 'k'))).toEqual(DONE);
    const later = await compactWith(service, id, 'k', { dryRun: true });
    expect([outcome(later), later.body.dryRun]).toEqual([DONE, true]);
  });

  it('that ends at its 200th call is answered as one that folded all', async () => {
    const { service, stub } = await startWithModel({ content: 'S' }, { SUMMARY_CHUNK_CHARS: '1000' });
    const id = await service.session(turns(410, 450), { compactCount: 99 });
    const first = await compactWith(service, id, 'k');
    expect([outcome(first), first.body.newSize]).toEqual([DONE, 400]);
    const second = await compactWith(service, id, 'k');
    expect(outcome(second)).toEqual(REPLAYED);
    expect(second.text).toBe(first.text);
    expect(stub.server.requests.length).toBe(200);
  });

  it('that has nothing left to fold once it has the session is answered all the same', async () => {
    const service = await startService();
    const id = await service.session([]);
    const { store } = service.app.services;
    const session = await findSession(store.read, 'default', id);
    const request = { tenant: 'default', key: 'k', fingerprint: 'f' };
    const answer = (result: CompactResult) => ({ status: 200, location: null, body: JSON.stringify(result) });
    const start = () => ({
      sessionPk: session?.pk ?? 0,
      leaseMs: 30_000,
      model: 'm',
      trigger: 'manual' as const,
      keepRecent: 0,
      instructions: null,
      plan: plannerOf({ percent: 50, keepRecent: 0 }),
      claim: new KeyClaim({ request, answer }),
    });
    const opened = await Attempt.open(store, Date.now, start());
    expect(opened).toMatchObject({ kind: 'up_to_date', reason: 'nothing_new', lastCompactedAt: null });
    const kept = { status: 200, location: null, body: JSON.stringify(opened) };
    expect(await findAnswer(store.read, request)).toEqual(kept);
    await expect(Attempt.open(store, Date.now, start())).rejects.toMatchObject({ answer: kept });
  });

  it('that is refused before it begins leaves its key free', async () => {
    const { service } = await startWithModel({ content: 'S' });
    const id = await service.session(turns(10, 100));
    expect((await compactWith(service, 'none', 'k')).status).toBe(404);
    expect((await compactWith(service, id, 'k', { compactCount: 100 })).status).toBe(400);
    expect((await compactWith(service, id, 'k', { keepRecent: -1 })).status).toBe(400);
    expect(keysOf(service)).toEqual([]);
    expect(outcome(await compactWith(service, id, 'k'))).toEqual(DONE);
  });
});

describe('the key of a compaction that failed', () => {
  it('works for the same request, which compacts, and for no other', async () => {
    const { service, stub, answerWith } = await startWithModel({ status: 500, body: 'down' });
    const id = await service.session(turns(10, 100));
    expect(outcome(await compactWith(service, id, 'k'))).toEqual([502, 'MODEL_UNAVAILABLE', undefined]);
    expect(outcome(await compactWith(service, id, 'k'))).toEqual([502, 'MODEL_UNAVAILABLE', undefined]);
    expect(keysOf(service)).toEqual([{ key: 'k', status: 'released' }]);
    expect(stub.server.requests.length).toBe(2);
    answerWith({ content: 'S' });
    expect(outcome(await compactWith(service, id, 'k', { keepRecent: 1 }))).toEqual(REUSED);
    const done = await compactWith(service, id, 'k');
    expect(outcome(done)).toEqual(DONE);
    expect(done.body.session.compact_summary).toBe('S');
    expect((await compactWith(service, id, 'k')).text).toBe(done.text);
    expect(stub.server.requests.length).toBe(3);
  });

  it('works again when the session changed meanwhile', async () => {
    const door = gate();
    const { service, stub } = await startWithModel(async (_, index) => {
      if (index === 0) await door.opened;
      return { content: `S${index}` };
    });
    const id = await service.session(turns(10, 100));
    const working = compactWith(service, id, 'k');
    await requestsAt(stub, 1);
    await service.call('POST', `/sessions/${id}/reset`);
    await appendWith(service, 'a', { messages: turns(10, 100) }, id);
    door.open();
    expect(outcome(await working)).toEqual([409, 'SESSION_CHANGED', undefined]);
    const again = await compactWith(service, id, 'k');
    expect([outcome(again), again.body.session.compact_summary]).toEqual([DONE, 'S1']);
  });

  it('works again when its client went away', async () => {
    const { service, stub, answerWith } = await startWithModel({ hang: true });
    const id = await service.session(turns(10, 100));
    const address = await service.app.listen({ port: 0, host: '127.0.0.1' });
    const client = new AbortController();
    const headers = { 'idempotency-key': 'k' };
    const asked = fetch(`${address}/sessions/${id}/compact`, {
      method: 'POST',
      headers,
      signal: client.signal,
    });
    await requestsAt(stub, 1);
    client.abort();
    await expect(asked).rejects.toThrow('aborted');
    await stub.server.peerClosed(0);
    answerWith({ content: 'S' });
    await expect.poll(() => keysOf(service), { timeout: 2_000 }).toEqual([{ key: 'k', status: 'released' }]);
    expect(outcome(await compactWith(service, id, 'k'))).toEqual(DONE);
  });

  it('works again when its service stopped', async () => {
    const { service, stub, answerWith } = await startWithModel({ hang: true });
    const id = await service.session(turns(10, 100));
    const asked = compactWith(service, id, 'k');
    await requestsAt(stub, 1);
    await service.close();
    expect(outcome(await asked)).toEqual([503, 'SHUTTING_DOWN', undefined]);
    answerWith({ content: 'S' });
    const next = await startService(modelAt(stub.url), service.file);
    expect(outcome(await compactWith(next, id, 'k'))).toEqual(DONE);
  });

  it('goes on from the steps that stand', async () => {
    const { service, stub, answerWith } = await startWithModel(
      (_, index) => (index === 0 ? { content: 'S0' } : { status: 500, body: 'down' }),
      { COMPACT_WINDOW_TOKENS: '4000' },
    );
    const id = await service.session(turns(20, 1_000), { compactCount: 99 });
    const failed = await compactWith(service, id, 'k');
    expect(outcome(failed)).toEqual([502, 'MODEL_UNAVAILABLE', undefined]);
    const reached = failed.body.compaction.to_size;
    expect(reached).toBeGreaterThan(0);
    answerWith({ content: 'S' });
    const done = await compactWith(service, id, 'k');
    expect(outcome(done)).toEqual(DONE);
    expect(done.body.compaction.from_size).toBe(reached);
    expect(stub.server.requests.length).toBeGreaterThan(2);
    expect((await compactionsOf(service, id)).map((record) => record.outcome)).toEqual([
      'completed',
      'partial',
    ]);
  });
});

describe('the key of a compaction whose process died', () => {
  it('is free once its lease has run out, and the late one changes nothing', async () => {
    const door = gate();
    const { service, stub } = await startWithModel(async (_, index) => {
      if (index === 0) await door.opened;
      return { content: index === 0 ? 'late' : 'in time' };
    });
    const other = await startService(modelAt(stub.url), service.file);
    const id = await service.session(turns(10, 100));
    const late = compactWith(service, id, 'k');
    await requestsAt(stub, 1);
    expect(outcome(await compactWith(other, id, 'k'))).toEqual(IN_USE);
    service.sql('UPDATE sessions SET lease_expires_at = 0');
    service.sql('UPDATE idempotency_keys SET lease_expires_at = 0');
    const inTime = await compactWith(other, id, 'k');
    expect([outcome(inTime), inTime.body.session.compact_summary]).toEqual([DONE, 'in time']);
    door.open();
    expect(outcome(await late)).toEqual([409, 'SESSION_CHANGED', undefined]);
    const again = await compactWith(service, id, 'k');
    expect(outcome(again)).toEqual(REPLAYED);
    expect(again.text).toBe(inTime.text);
    expect((await lastCompaction(service, id)).summary).toBe('in time');
    expect(stub.server.requests.length).toBe(2);
  });

  it('bars a late commit even when the session has not been taken', async () => {
    const door = gate();
    const { service, stub } = await startWithModel(async () => {
      await door.opened;
      return { content: 'late' };
    });
    const id = await service.session(turns(10, 100));
    const late = compactWith(service, id, 'k');
    await requestsAt(stub, 1);
    service.sql("UPDATE idempotency_keys SET owner = 'another'");
    door.open();
    expect(outcome(await late)).toEqual(IN_USE);
    const session = (await service.call('GET', `/sessions/${id}`)).body;
    expect([session.compact_summary, session.compact_size]).toEqual([null, 0]);
    expect((await lastCompaction(service, id)).error_code).toBe('IDEMPOTENCY_KEY_IN_USE');
  });
});

it('a compaction without a key leaves none', async () => {
  const { service } = await startWithModel({ content: 'S' });
  const id = await service.session(turns(10, 100));
  await service.call('POST', `/sessions/${id}/messages`, { messages: [user('x')] });
  expect((await service.compact(id)).status).toBe(200);
  expect(keysOf(service)).toEqual([]);
});
