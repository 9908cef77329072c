import { performance } from 'node:perf_hooks';
import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { turns } from '../support/messages.js';
import { startService, type TestService } from '../support/service.js';
import { quotedIn, startWithModel } from './session-state.js';

const appendTo = (service: TestService, id: string, count: number) =>
  service.call('POST', `/sessions/${id}/messages`, { messages: turns(count, 20) });

describe('a session of 40,000 messages', () => {
  it('is read, compacted, appended to, emptied and deleted like a short one', async () => {
    const { service, stub } = await startWithModel((_prompt, index) => ({ content: `S${index}` }));
    const id = await service.session(turns(40_000, 20));
    const view = await service.call('GET', `/sessions/${id}/context`);
    expect(view.status).toBe(200);
    expect(view.body).toMatchObject({ tail_count: 40_000, chars: 800_000 });
    expect(view.body.messages.length).toBe(40_000);

    const compacted = await service.compact(id, { compactCount: 99 });
    expect(compacted.status).toBe(200);
    expect(compacted.body).toMatchObject({ compactedCount: 39_600, newSize: 39_600 });
    const quoted = stub.prompts.map((prompt) => quotedIn(prompt, 'transcript') ?? '').join('\n\n');
    expect(quoted.split('[user]').length + quoted.split('[assistant]').length - 2).toBe(39_600);
    expect((await service.call('GET', `/sessions/${id}/context`)).body.tail_count).toBe(400);

    expect((await appendTo(service, id, 1_001)).status).toBe(400);
    const appended = await Promise.all(Array.from({ length: 5 }, () => appendTo(service, id, 1_000)));
    expect(appended.map(({ status }) => status)).toEqual([201, 201, 201, 201, 201]);
    expect((await service.call('GET', `/sessions/${id}`)).body.message_count).toBe(45_000);

    expect((await service.call('POST', `/sessions/${id}/reset`)).status).toBe(200);
    expect(service.sql('SELECT count(*) AS n FROM messages')).toEqual([{ n: 0 }]);
    expect((await service.call('DELETE', `/sessions/${id}`)).status).toBe(204);
  });
});

describe('a chunk of very many messages', () => {
  it('is put together in time that grows with its length, not with its square', async () => {
    const { service, stub } = await startWithModel({ content: 'S1' }, { COMPACT_WINDOW_TOKENS: '1000000' });
    const id = await service.session(turns(20_000, 20));
    const started = performance.now();
    const { status, body } = await service.compact(id, { compactCount: 99 });
    const took = performance.now() - started;
    expect(status).toBe(200);
    expect(body.newSize).toBe(19_800);
    expect(stub.prompts.length).toBe(1);
    expect(took).toBeLessThan(4_000);
  });
});

describe('while long sessions are read, written and compacted', () => {
  it('the service answers within a tenth of a second', async () => {
    const { service } = await startWithModel((_prompt, index) => ({ content: `S${index}` }));
    const ids = await Promise.all(Array.from({ length: 3 }, () => service.session(turns(5_000, 200))));
    let busy = true;
    const waits: number[] = [];
    const probe = (async () => {
      while (busy) {
        const started = performance.now();
        expect((await service.call('GET', '/livez')).status).toBe(200);
        waits.push(performance.now() - started);
        await delay(5);
      }
    })();

    await Promise.all(
      ids.map(async (id) => {
        for (let i = 0; i < 3; i += 1) {
          expect((await service.call('GET', `/sessions/${id}/context`)).body.tail_count).toBe(5_000);
        }
        expect((await service.call('GET', `/sessions/${id}/messages?limit=200`)).status).toBe(200);
        expect((await service.compact(id)).status).toBe(200);
      }),
    );
    busy = false;
    await probe;

    waits.sort((a, b) => a - b);
    expect(waits.length).toBeGreaterThan(20);
    // Not the very slowest: parsing the answers in this process takes its time too.
    expect(waits[Math.floor(waits.length * 0.9)]).toBeLessThan(100);
  });
});

describe('the cost of a step on a long session', () => {
  it('does not grow with what was folded long ago', async () => {
    const service = await startService();
    const id = await service.session(turns(20_000, 50));
    service.sql("UPDATE sessions SET compact_summary = 'S0', compact_size = 19980 WHERE id = ?", id);
    const rowsBefore = service.sql('SELECT count(*) AS n FROM messages');
    expect(rowsBefore).toEqual([{ n: 20_000 }]);

    const best = async (action: () => Promise<{ status: number }>) => {
      const times: number[] = [];
      for (let i = 0; i < 10; i += 1) {
        const started = performance.now();
        expect((await action()).status).toBeLessThan(300);
        times.push(performance.now() - started);
      }
      return Math.min(...times);
    };
    const times = {
      view: await best(() => service.call('GET', `/sessions/${id}/context`)),
      append: await best(() => appendTo(service, id, 1)),
      preview: await best(() => service.compact(id, { dryRun: true })),
      list: await best(() => service.call('GET', '/sessions')),
    };

    expect(Object.entries(times).filter(([, ms]) => ms >= 50)).toEqual([]);
    expect(service.sql('SELECT count(*) AS n FROM messages')).toEqual([{ n: 20_010 }]);
    expect((await service.view(id)).length).toBe(2 + 20 + 10);
  });
});
