import { setImmediate as nextTurn } from 'node:timers/promises';
import Database from 'better-sqlite3';
import { sql } from 'drizzle-orm';
import { describe, expect, it, onTestFinished } from 'vitest';
import { user } from '../support/messages.js';
import { startService } from '../support/service.js';
import { describeOnSqlite, itOnSqlite } from '../support/tested-store.js';

describe('two services on one file', () => {
  it('write to one session by turns without an error or a lost message', async () => {
    const first = await startService();
    const second = await startService({}, first.file);
    const id = await first.session([]);
    const writes = 250;

    const run = async (service: typeof first, name: string) => {
      const statuses: number[] = [];
      for (let i = 0; i < writes; i += 1) {
        const read = await service.call('GET', `/sessions/${id}`);
        const written = await service.call('POST', `/sessions/${id}/messages`, {
          messages: [user(`${name}${i}`)],
        });
        statuses.push(read.status, written.status);
      }
      return statuses;
    };
    const statuses = (await Promise.all([run(first, 'a'), run(second, 'b')])).flat();

    expect(statuses.filter((status) => status !== 200 && status !== 201)).toEqual([]);
    const stored = (await first.messages(id)).map(({ content }) => String(content));
    expect(stored.length).toBe(writes * 2);
    for (const name of ['a', 'b']) {
      expect(stored.filter((content) => content.startsWith(name))).toEqual(
        Array.from({ length: writes }, (_, i) => `${name}${i}`),
      );
    }
    expect((await second.call('GET', `/sessions/${id}`)).body).toMatchObject({
      message_count: writes * 2,
      version: writes * 2 + 1,
    });
  });
});

describeOnSqlite('a program that holds the write lock of the file', 'a lock of the whole file', () => {
  it('is waited for, and the service answers reads meanwhile', async () => {
    const service = await startService();
    const id = await service.session([]);
    const other = new Database(service.file);
    onTestFinished(() => void other.close());
    other.exec('BEGIN IMMEDIATE');
    let written = false;
    const write = service
      .call('POST', `/sessions/${id}/messages`, { messages: [user('x')] })
      .then((answer) => {
        written = true;
        return answer;
      });

    const started = performance.now();
    let reads = 0;
    while (performance.now() - started < 300) {
      expect((await service.call('GET', `/sessions/${id}`)).status).toBe(200);
      reads += 1;
      await nextTurn();
    }
    expect(written).toBe(false);
    expect(reads).toBeGreaterThan(3);
    other.exec('COMMIT');

    expect((await write).status).toBe(201);
  });
});

itOnSqlite(
  'foreign keys are enforced on every kind of connection, and the writing ones sync in full',
  'its connections are set so, one by one',
  async () => {
    const service = await startService();
    const { store } = service.app.services;
    const flags = (db: typeof store.read) =>
      db.orm
        .select({ keys: sql<number>`(SELECT foreign_keys FROM pragma_foreign_keys)` })
        .from(sql`(SELECT 1)`);
    expect(await flags(store.read)).toEqual([{ keys: 1 }]);
    expect(await store.snapshot((db) => flags(db))).toEqual([{ keys: 1 }]);
    expect(await store.tx((db) => flags(db))).toEqual([{ keys: 1 }]);
    const synced = await store.tx((db) =>
      db.orm
        .select({ level: sql<number>`(SELECT synchronous FROM pragma_synchronous)` })
        .from(sql`(SELECT 1)`),
    );
    expect(synced).toEqual([{ level: 2 }]);
    const [mode] = await store.tx((db) =>
      db.orm
        .select({ mode: sql<string>`(SELECT journal_mode FROM pragma_journal_mode)` })
        .from(sql`(SELECT 1)`),
    );
    expect(mode).toEqual({ mode: 'wal' });
  },
);
