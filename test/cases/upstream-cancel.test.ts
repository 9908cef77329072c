import { setTimeout as delay } from 'node:timers/promises';
import { Client } from 'undici';
import { describe, expect, it, onTestFinished } from 'vitest';
import { turns } from '../support/messages.js';
import type { TestService } from '../support/service.js';
import {
  compactionsOf,
  expectUnharmed,
  gate,
  type Harness,
  requestsAt,
  startWithModel,
  stateOf,
} from './session-state.js';

/** A compact request over a real connection that its client can break off. */
async function compactOverSocket(service: TestService, id: string) {
  const client = new Client(await service.app.listen({ port: 0, host: '127.0.0.1' }));
  onTestFinished(() => client.destroy());
  const abort = new AbortController();
  const status = client
    .request({ method: 'POST', path: `/sessions/${id}/compact`, signal: abort.signal })
    .then(
      async (answer) => {
        await answer.body.dump();
        return answer.statusCode;
      },
      () => 'broken off',
    );
  return { status, breakOff: () => abort.abort() };
}

/** Waits until the newest compaction of the session has ended. */
async function endOf(service: TestService, id: string) {
  for (const deadline = performance.now() + 3_000; performance.now() < deadline; await delay(5)) {
    const [last] = await compactionsOf(service, id);
    if (last !== undefined && last.outcome !== 'running') return last;
  }
  throw new Error('the compaction goes on');
}

describe('a model that accepts and never answers', () => {
  it('is given up after the configured time, its connection closed, and the session is free', async () => {
    const harness = await startWithModel({ hang: true }, { COMPACT_FIRST_BYTE_TIMEOUT_MS: '400' });
    const { service, stub } = harness;
    const id = await service.session(turns(8, 100));
    const before = stateOf(service, id);
    const started = performance.now();

    const { status, body } = await service.compact(id);

    const took = performance.now() - started;
    expect({ status, code: body.code, retryable: body.retryable }).toEqual({
      status: 504,
      code: 'MODEL_TIMEOUT',
      retryable: true,
    });
    expect(took).toBeGreaterThanOrEqual(395);
    expect(took).toBeLessThan(2_400);
    await stub.server.peerClosed(0, 500);
    expect(stub.server.requests.length).toBe(1);
    await expectUnharmed(harness, id, before);
  });

  it('is given up after the total time when it only trickles', async () => {
    const harness = await startWithModel(
      { content: 'S1', delayMs: 2_000 },
      { COMPACT_TOTAL_TIMEOUT_MS: '300', COMPACT_RETRIES: '2' },
    );
    const { service, stub } = harness;
    const id = await service.session(turns(8, 100));
    const before = stateOf(service, id);
    expect((await service.compact(id)).body.code).toBe('MODEL_TIMEOUT');
    expect(stub.server.requests.length).toBe(1);
    await expectUnharmed(harness, id, before);
  });
});

describe('when the client of a compact call goes away', () => {
  it('the model call is ended and nothing is saved, then or later', async () => {
    const harness = await startWithModel({ content: 'S1', delayMs: 1_000 });
    const { service, stub } = harness;
    const id = await service.session(turns(8, 100));
    const before = stateOf(service, id);
    const call = await compactOverSocket(service, id);
    await requestsAt(stub, 1);
    await delay(100);

    call.breakOff();

    expect(await call.status).toBe('broken off');
    await stub.server.peerClosed(0, 800);
    expect(await endOf(service, id)).toMatchObject({
      outcome: 'failed',
      error_code: 'REQUEST_CANCELLED',
      requests: 1,
    });
    await delay(1_100);
    expect(stub.server.requests.length).toBe(1);
    await expectUnharmed(harness, id, before);
  });

  it('while a retry is waited for, no further request is sent', async () => {
    const harness = await startWithModel(
      { status: 503, headers: { 'retry-after': '30' }, body: {} },
      { COMPACT_RETRIES: '2' },
    );
    const { service, stub } = harness;
    const id = await service.session(turns(8, 100));
    const before = stateOf(service, id);
    const call = await compactOverSocket(service, id);
    await requestsAt(stub, 1);
    await delay(100);
    const started = performance.now();

    call.breakOff();

    expect((await endOf(service, id)).error_code).toBe('REQUEST_CANCELLED');
    expect(performance.now() - started).toBeLessThan(1_000);
    expect(stub.server.requests.length).toBe(1);
    await expectUnharmed(harness, id, before);
  });

  it('the chunks that were committed stand, and no more', async () => {
    const { service, stub } = await startWithModel(
      (_prompt, index) => (index < 2 ? { content: `S${index}` } : { hang: true }),
      { SUMMARY_CHUNK_CHARS: '1000' },
    );
    const id = await service.session(turns(6, 450), { compactCount: 99 });
    const call = await compactOverSocket(service, id);
    await requestsAt(stub, 3);

    call.breakOff();

    expect(await endOf(service, id)).toMatchObject({
      outcome: 'partial',
      error_code: 'REQUEST_CANCELLED',
      to_size: 4,
      usage: { input_tokens: 200, output_tokens: 20 },
    });
    expect((await service.call('GET', `/sessions/${id}`)).body).toMatchObject({
      compact_summary: 'S1',
      compact_size: 4,
    });
  });

  it.each(Array.from({ length: 6 }, (_, i) => ({ afterMs: i })))(
    'in the moment of the reply, it is all saved or nothing is: $afterMs ms after it',
    async ({ afterMs }) => {
      const door = gate();
      const harness: Harness = await startWithModel(async () => {
        await door.opened;
        return { content: 'S1' };
      });
      const { service, stub, answerWith } = harness;
      const id = await service.session(turns(8, 100));
      const before = stateOf(service, id);
      const call = await compactOverSocket(service, id);
      await requestsAt(stub, 1);

      door.open();
      if (afterMs > 0) await delay(afterMs);
      call.breakOff();

      await call.status;
      const record = await endOf(service, id);
      if (record.outcome === 'failed') {
        expect(record).toMatchObject({ error_code: 'REQUEST_CANCELLED', to_size: 0, summary: null });
        expect(stateOf(service, id)).toEqual(before);
      } else {
        expect(record).toMatchObject({ outcome: 'completed', to_size: 4, summary: 'S1' });
        const { body } = await service.call('GET', `/sessions/${id}`);
        expect(body).toMatchObject({ compact_summary: 'S1', compact_size: 4, revision: 1 });
      }
      expect(service.sql('SELECT lease_owner FROM sessions')).toEqual([{ lease_owner: null }]);
      answerWith({ content: 'S2' });
      expect((await service.compact(id)).status).toBe(200);
      expect(stub.server.requests.length).toBe(2);
    },
  );
});
