import { existsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { turns, user } from '../support/messages.js';
import { startModelStub } from '../support/model-stub.js';
import { startProcess } from '../support/process.js';
import { modelAt, temporaryFolder } from '../support/service.js';

const quiet = (folder: string, more: object = {}) => ({
  DATABASE_URL: `file:${join(folder, 'compactd.db')}`,
  ...more,
});

const strings = (variables: object): Record<string, string> =>
  Object.fromEntries(Object.entries(variables).map(([name, value]) => [name, String(value)]));

describe('the process', { timeout: 60_000 }, () => {
  it('names every bad variable and does not start', async () => {
    await expect(startProcess({ PORT: 'http', LOG_LEVEL: 'loud' })).rejects.toThrow(
      /PORT: .*\n.*LOG_LEVEL: must be one of/,
    );
  });

  it('ends on SIGTERM with its work done, its database closed and no lease left', async () => {
    const folder = temporaryFolder();
    const stub = await startModelStub(() => ({ content: 'S1', delayMs: 600 }));
    const service = await startProcess(strings(quiet(folder, modelAt(stub.url))));
    await service.call('POST', '/sessions', { id: 's', messages: turns(10, 100) });
    const compacting = service.call('POST', '/sessions/s/compact');
    while (stub.prompts.length === 0) await sleep(10);
    const ended = service.end('SIGTERM');
    await sleep(100);
    expect((await compacting).body).toMatchObject({ compactedCount: 5, newSize: 5 });
    expect(await ended).toEqual({ code: 0, signal: null });
    const file = join(folder, 'compactd.db');
    expect(existsSync(`${file}-wal`) ? statSync(`${file}-wal`).size : 0).toBe(0);
    const again = await startProcess(strings(quiet(folder, modelAt(stub.url))));
    expect((await again.call('GET', '/sessions/s')).body).toMatchObject({
      compact_size: 5,
      compact_summary: 'S1',
    });
    expect((await again.call('POST', '/sessions/s/compact')).status).toBe(200);
  });

  it('gives up after the grace time: the compaction ends without a trace, and its lease is given back', async () => {
    const folder = temporaryFolder();
    const stub = await startModelStub((_, index) => (index === 0 ? { hang: true } : { content: 'S1' }));
    const variables = strings(quiet(folder, { ...modelAt(stub.url), SHUTDOWN_GRACE_MS: 200 }));
    const service = await startProcess(variables);
    await service.call('POST', '/sessions', { id: 's', messages: turns(10, 100) });
    const compacting = service.call('POST', '/sessions/s/compact');
    while (stub.prompts.length === 0) await sleep(10);
    const started = performance.now();
    const ended = await service.end('SIGTERM');
    expect(ended).toEqual({ code: 0, signal: null });
    expect(performance.now() - started).toBeLessThan(5_000);
    const answer = await compacting;
    expect([answer.status, answer.body.code, answer.body.compaction.outcome]).toEqual([
      503,
      'SHUTTING_DOWN',
      'failed',
    ]);
    const again = await startProcess(variables);
    expect((await again.call('POST', '/sessions/s/compact')).body).toMatchObject({ newSize: 5 });
  });

  it.each(['before the reply', 'after the first step'])(
    'killed %s of a compaction, comes back in the old state or the new, and compacts within the lease',
    async (when) => {
      const folder = temporaryFolder();
      const leaseMs = 1_500;
      // Two steps of five messages each; the process is killed while the second or the first is awaited.
      const killAt = when === 'before the reply' ? 0 : 1;
      const stub = await startModelStub((_, index) =>
        index === killAt ? { hang: true } : { content: `S${index}` },
      );
      const variables = strings(
        quiet(folder, { ...modelAt(stub.url), COMPACTION_LEASE_MS: leaseMs, SUMMARY_CHUNK_CHARS: 1_500 }),
      );
      const service = await startProcess(variables);
      const messages = turns(20, 300);
      await service.call('POST', '/sessions', { id: 's', messages });
      const compacting = service.call('POST', '/sessions/s/compact').catch(() => 'gone');
      while (stub.prompts.length <= killAt) await sleep(5);
      expect(await service.end('SIGKILL')).toEqual({ code: null, signal: 'SIGKILL' });
      expect(await compacting).toBe('gone');

      const again = await startProcess(variables);
      const state = (await again.call('GET', '/sessions/s')).body;
      const steps =
        killAt === 0
          ? { compact_summary: null, compact_size: 0 }
          : { compact_summary: 'S0', compact_size: 4 };
      expect(state).toMatchObject(steps);
      const record = {
        outcome: killAt === 0 ? 'failed' : 'partial',
        error_code: 'INTERRUPTED',
        to_size: steps.compact_size,
      };
      const deadline = performance.now() + leaseMs + 500;
      let next = await again.call('POST', '/sessions/s/compact');
      while (next.status === 409 && performance.now() < deadline) {
        expect(next.body.code).toBe('COMPACTION_IN_PROGRESS');
        expect(Number(next.headers.get('retry-after'))).toBeLessThanOrEqual(2);
        await sleep(100);
        next = await again.call('POST', '/sessions/s/compact');
      }
      expect([next.status, next.body.compaction.from_size]).toEqual([200, steps.compact_size]);
      const { data } = (await again.call('GET', '/sessions/s/compactions')).body;
      expect(data.map(({ outcome }) => outcome)).toEqual(['completed', record.outcome]);
      expect(data[1]).toMatchObject(record);
      // Not only shown so: the row says it too, once another attempt has taken over.
      expect(data[1]?.finished_at).not.toBeNull();
      expect(
        (await again.call('GET', '/sessions/s/messages')).body.data.map(({ message }) => message),
      ).toEqual(messages);
    },
  );

  it('logs request ids, and neither texts nor keys', async () => {
    const folder = temporaryFolder();
    const stub = await startModelStub((_, index) =>
      index === 0
        ? { status: 401, body: { error: { message: 'Incorrect API key provided: sk-live-SECRET-9' } } }
        : { content: 'SUMMARY-TEXT' },
    );
    const service = await startProcess(
      strings(
        quiet(folder, { ...modelAt(stub.url), OPENAI_API_KEY: 'sk-live-SECRET-9', LOG_LEVEL: 'trace' }),
      ),
    );
    await service.call('POST', '/sessions', {
      id: 's',
      messages: [user('PRIVATE-TEXT '.repeat(20)), user('more')],
    });
    const failed = await service.call('POST', '/sessions/s/compact');
    expect([failed.status, failed.body.code]).toEqual([502, 'MODEL_AUTH']);
    expect((await service.call('POST', '/sessions/s/compact', { instructions: 'WISH-TEXT' })).status).toBe(
      200,
    );
    await service.end('SIGTERM');
    const log = service.log();
    expect(log).toContain('"reqId":"');
    expect(log).toContain('session compacted');
    for (const secret of ['PRIVATE-TEXT', 'SUMMARY-TEXT', 'WISH-TEXT', 'SECRET-9'])
      expect(log).not.toContain(secret);
    expect(JSON.stringify(failed.body)).not.toContain('SECRET-9');
  });
});

describe('two processes on one file', { timeout: 60_000 }, () => {
  it('lose nothing, and no client hears of a locked database', async () => {
    const folder = temporaryFolder();
    const nodes = await Promise.all([
      startProcess(strings(quiet(folder))),
      startProcess(strings(quiet(folder))),
    ]);
    await nodes[0]?.call('POST', '/sessions', { id: 's' });
    const statuses: number[] = [];
    await Promise.all(
      nodes.map(async (node, n) => {
        for (let i = 0; i < 250; i += 5) {
          const answers = await Promise.all(
            Array.from({ length: 5 }, (_, k) =>
              node.call('POST', '/sessions/s/messages', { messages: [user(`${n}-${i + k}`)] }),
            ),
          );
          statuses.push(...answers.map(({ status }) => status));
        }
      }),
    );
    expect(statuses.length).toBe(500);
    expect(new Set(statuses)).toEqual(new Set([201]));
    const texts: unknown[] = [];
    const seqs: number[] = [];
    for (let after = ''; ; ) {
      const { body } = (await nodes[1]?.call('GET', `/sessions/s/messages?limit=200${after}`)) ?? {
        body: null,
      };
      texts.push(...(body?.data ?? []).map(({ message }) => message.content));
      seqs.push(...(body?.data ?? []).map(({ seq }) => seq));
      if (!body?.has_more) break;
      after = `&cursor=${body.next_cursor}`;
    }
    expect(seqs).toEqual(Array.from({ length: 500 }, (_, i) => i));
    expect(new Set(texts).size).toBe(500);
  });

  it('compact a session once between them', async () => {
    const folder = temporaryFolder();
    const stub = await startModelStub(() => ({ content: 'S1', delayMs: 500 }));
    const variables = strings(quiet(folder, modelAt(stub.url)));
    const nodes = await Promise.all([startProcess(variables), startProcess(variables)]);
    await nodes[0]?.call('POST', '/sessions', { id: 's', messages: turns(10, 100) });
    const answers = await Promise.all(nodes.map((node) => node.call('POST', '/sessions/s/compact')));
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 409]);
    const refused = answers.find(({ status }) => status === 409);
    expect([refused?.body.code, Number(refused?.headers.get('retry-after')) > 0]).toEqual([
      'COMPACTION_IN_PROGRESS',
      true,
    ]);
    expect(stub.prompts.length).toBe(1);
    expect((await nodes[1]?.call('GET', '/sessions/s'))?.body.compact_size).toBe(5);
  });
});
