import { createHash } from 'node:crypto';
import Database from 'better-sqlite3';
import { describe, expect, it } from 'vitest';
import { fileOfFirstMigration } from '../support/first-migration.js';
import { calls, result, turns, user } from '../support/messages.js';
import { modelAt, startService, type TestService } from '../support/service.js';
import { describeOnSqlite } from '../support/tested-store.js';
import { startWithModel } from './session-state.js';

const count = (service: TestService, table: string) => service.sql(`SELECT count(*) AS n FROM ${table}`)[0];

describe('deleting a session', () => {
  it('leaves nothing of it and everything of the others, also after the database was opened anew', async () => {
    const { service, stub } = await startWithModel({ content: 'S1' });
    const kept = await service.session(turns(10, 100));
    await service.compact(kept);
    const remove = async (from: TestService) => {
      const id = await from.session(turns(1_000, 20));
      await from.compact(id);
      await from.compact(id);
      expect(count(from, 'messages')).toEqual({ n: 1_010 });
      expect((await from.call('DELETE', `/sessions/${id}`)).status).toBe(204);
      expect(count(from, 'messages')).toEqual({ n: 10 });
      expect(count(from, 'compactions')).toEqual({ n: 1 });
      expect(count(from, 'sessions')).toEqual({ n: 1 });
      for (const part of ['', '/messages', '/context', '/compactions']) {
        expect((await from.call('GET', `/sessions/${id}${part}`)).status).toBe(404);
      }
    };

    await remove(service);
    await service.close();
    const reopened = await startService(modelAt(stub.url), service.file);
    await remove(reopened);

    expect((await reopened.compact(kept)).body).toMatchObject({ newSize: 8 });
  });
});

describe('compactions', () => {
  it('add, change and double no message, and keep ids', async () => {
    const { service } = await startWithModel((_prompt, index) => ({ content: `S${index}` }));
    const id = await service.session(turns(50, 100));
    const idsOf = () => service.sql('SELECT pk, id, seq, position, body FROM messages ORDER BY seq');
    const before = idsOf();
    for (let i = 0; i < 5; i += 1) expect((await service.compact(id)).status).toBe(200);
    expect(idsOf()).toEqual(before);

    const rounds = Array.from({ length: 12 }, (_, i) => [
      calls([`c${i}`]),
      result(`c${i}`, `found ${i}`),
    ]).flat();
    await service.call('POST', `/sessions/${id}/messages`, { messages: [user('look'), ...rounds] });

    expect(idsOf().slice(0, 50)).toEqual(before);
    expect(count(service, 'messages')).toEqual({ n: 75 });
    expect(service.sql("SELECT count(*) AS n FROM messages WHERE body LIKE '%found 7%'")).toEqual([{ n: 1 }]);
    const listed = await service.call('GET', `/sessions/${id}/messages?limit=200`);
    expect(new Set(listed.body.data.map((message) => message.id)).size).toBe(75);
    expect((await service.view(id)).filter(({ content }) => content === 'found 7').length).toBe(1);
  });
});

describeOnSqlite(
  'a database at the first migration, with sessions in it',
  'no other store was there then',
  () => {
    /** What the first release left: no compaction columns. */
    async function oldDatabase(): Promise<{
      file: string;
      hash: string;
      hashOf: (from: TestService) => string;
    }> {
      const service = await startService();
      for (let i = 0; i < 3; i += 1) await service.session(turns(10, 100), { id: `s${i}` });
      const file = fileOfFirstMigration();
      const old = new Database(file);
      old.prepare('ATTACH ? AS new').run(service.file);
      for (const table of ['sessions', 'messages']) {
        const columns = old
          .prepare<[string], { name: string }>('SELECT name FROM pragma_table_info(?)')
          .all(table)
          .map(({ name }) => name)
          .join(', ');
        old.exec(`INSERT INTO ${table} (${columns}) SELECT ${columns} FROM new.${table}`);
      }
      old.close();
      const hashOf = (from: TestService) =>
        createHash('sha256')
          .update(JSON.stringify(from.sql('SELECT * FROM messages ORDER BY pk')))
          .update(JSON.stringify(from.sql('SELECT pk, id, message_count, version FROM sessions ORDER BY pk')))
          .digest('hex');
      const hash = hashOf(service);
      await service.close();
      return { file, hash, hashOf };
    }

    it('is opened with all its rows, once and again, and its sessions compact as new ones do', async () => {
      const { file, hash, hashOf } = await oldDatabase();
      const { stub, service: unused } = await startWithModel({ content: 'S1' });
      await unused.close();

      const first = await startService(modelAt(stub.url), file);
      expect(hashOf(first)).toBe(hash);
      const migrations = first.sql('SELECT * FROM __drizzle_migrations');
      expect(migrations.length).toBe(3);
      expect((await first.call('GET', '/sessions/s1')).body).toMatchObject({
        compact_summary: null,
        compact_size: 0,
        compact_count: 50,
        message_count: 10,
      });
      await first.close();
      const second = await startService(modelAt(stub.url), file);
      expect(hashOf(second)).toBe(hash);
      expect(second.sql('SELECT * FROM __drizzle_migrations')).toEqual(migrations);
      expect((await second.compact('s1')).body).toMatchObject({ newSize: 5 });
    });

    it('is opened by two services at once', async () => {
      const { file, hash, hashOf } = await oldDatabase();
      const both = await Promise.all([startService({}, file), startService({}, file)]);
      for (const service of both) expect(hashOf(service)).toBe(hash);
      expect(both[0].sql('SELECT count(*) AS n FROM __drizzle_migrations')).toEqual([{ n: 3 }]);
    });

    it.each([
      { name: 'one of the columns', add: ['compact_size integer'] },
      {
        name: 'all of the columns',
        add: ['compact_summary text', 'compact_size integer', 'compact_count real'],
      },
    ])('is opened too when it has $name already', async ({ add }) => {
      const { file, hash, hashOf } = await oldDatabase();
      const { stub, service: other } = await startWithModel({ content: 'S1' });
      await other.close();
      const connection = new Database(file);
      for (const column of add) connection.exec(`ALTER TABLE sessions ADD COLUMN ${column}`);
      connection.close();

      const service = await startService(modelAt(stub.url), file);

      expect(hashOf(service)).toBe(hash);
      const { status, body } = await service.compact('s0');
      expect(status).toBe(200);
      expect(body.session).toMatchObject({ compact_summary: 'S1', compact_size: 5, compact_count: 50 });
    });
  },
);
