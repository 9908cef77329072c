import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it, onTestFinished } from 'vitest';
import { user } from '../support/messages.js';
import { PostgresServer } from '../support/postgres-server.js';
import { startProcess } from '../support/process.js';

describe('a service whose PostgreSQL server is stopped and started', () => {
  it('says what is wrong meanwhile, lives, and goes on with every answered message there', async () => {
    const server = await PostgresServer.create();
    onTestFinished(() => server.remove());
    const service = await startProcess({ DATABASE_URL: server.url(), MIGRATE_ON_BOOT: 'true' });
    const append = (text: string) => service.call('POST', '/sessions/s/messages', { messages: [user(text)] });
    await service.call('POST', '/sessions', { id: 's' });
    expect((await append('before')).status).toBe(201);

    await server.stop();
    expect(await service.call('GET', '/livez')).toMatchObject({ status: 200 });
    for (const answer of [
      await service.call('GET', '/readyz'),
      await append('meanwhile'),
      await service.call('GET', '/sessions/s'),
      await service.call('GET', '/sessions/s/context'),
      await service.call('POST', '/sessions/s/compact'),
    ]) {
      expect(answer).toMatchObject({ status: 503, body: { code: 'STORE_UNAVAILABLE', retryable: true } });
      expect(answer.body.detail).toMatch(/^The database cannot be used: /);
      expect(answer.headers.get('retry-after')).toBe('1');
    }

    await server.start();
    for (let i = 0; i < 50 && (await service.call('GET', '/readyz')).status !== 200; i += 1) await sleep(100);
    expect(await append('after')).toMatchObject({ status: 201, body: { data: [{ seq: 1 }] } });
    expect((await service.call('GET', '/sessions/s/context')).body.messages).toEqual([
      user('before'),
      user('after'),
    ]);
    expect(await service.end('SIGTERM')).toEqual({ code: 0, signal: null });
  });

  it('does not start on a server that it cannot reach, and names no password', async () => {
    const started = startProcess({ DATABASE_URL: 'postgres://u:a-password@127.0.0.1:1/d' });
    const failure = await started.then(() => '', String);
    expect(failure).toContain('The database cannot be used: the connection failed (ECONNREFUSED)');
    expect(failure).not.toContain('a-password');
  });
});
