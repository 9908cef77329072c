import { existsSync, statSync } from 'node:fs';
import Database from 'better-sqlite3';
import { expect, it } from 'vitest';
import { text, turns, user } from '../support/messages.js';
import type { TestService } from '../support/service.js';
import { startService } from '../support/service.js';
import { describeOnSqlite } from '../support/tested-store.js';
import { startWithModel } from './session-state.js';

const MB = 1024 * 1024;
const walOf = (service: TestService) => statSync(`${service.file}-wal`).size;

describeOnSqlite('the write-ahead log', 'a file and its log', () => {
  it('shrinks again after a reader that held it, and is gone when the service has stopped', async () => {
    const service = await startService();
    const id = await service.session([]);
    const megabyte = { messages: Array.from({ length: 4 }, () => user('x'.repeat(MB / 4))) };
    const write = async (count: number) => {
      for (let i = 0; i < count; i += 1) {
        expect((await service.call('POST', `/sessions/${id}/messages`, megabyte)).status).toBe(201);
      }
    };
    const reader = new Database(service.file, { readonly: true });
    reader.exec('BEGIN');
    reader.prepare('SELECT count(*) FROM messages').get();
    await write(90);
    expect(walOf(service)).toBeGreaterThan(64 * MB);
    reader.exec('COMMIT');
    reader.close();

    await write(4);

    expect(walOf(service)).toBeLessThanOrEqual(64 * MB);
    await service.close();
    expect(existsSync(`${service.file}-wal`) ? walOf(service) : 0).toBe(0);
  });

  it('stays bounded without a reader, however much is written', async () => {
    const service = await startService();
    const id = await service.session([]);
    const megabyte = { messages: Array.from({ length: 4 }, () => user('x'.repeat(MB / 4))) };
    let largest = 0;
    for (let i = 0; i < 100; i += 1) {
      await service.call('POST', `/sessions/${id}/messages`, megabyte);
      largest = Math.max(largest, walOf(service));
    }
    expect(largest).toBeLessThanOrEqual(64 * MB);
  });
});

describeOnSqlite('the database', 'a file and its log', () => {
  it('grows with what was said, not with how often it was compacted', async () => {
    const { service } = await startWithModel((_prompt, index) => ({
      content: `Summary ${index}: ${text(500)}`,
    }));
    const id = await service.session(turns(200, 2_000));
    let folded = 0;
    for (let i = 0; i < 100; i += 1) {
      await service.call('POST', `/sessions/${id}/messages`, { messages: turns(4, 2_000) });
      const { status, body } = await service.compact(id, { compactCount: 20 });
      expect(status).toBe(200);
      folded += body.compactedCount;
    }
    const { body: session } = await service.call('GET', `/sessions/${id}`);
    expect(session.message_count).toBe(600);
    expect(folded).toBe(session.compact_size);
    await service.close();

    const content = 600 * 2_000 + 100 * 520;
    expect(statSync(service.file).size).toBeLessThan(content * 3);
    const reopened = new Database(service.file, { readonly: true });
    const largest = reopened.prepare('SELECT max(length(summary)) AS n FROM compactions').get();
    const rows = reopened.prepare('SELECT count(*) AS n FROM messages').get();
    reopened.close();
    expect(largest).toEqual({ n: 'Summary 100: '.length + text(500).length });
    expect(rows).toEqual({ n: 600 });
  });
});
