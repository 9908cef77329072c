import { cpSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import Database from 'better-sqlite3';
import { describe, expect, it } from 'vitest';
import { migrationsFolder } from '../../src/db/migrations.js';
import { openWriter } from '../../src/db/sqlite/connection.js';
import { migrate } from '../../src/db/sqlite/migrate.js';
import { fileOfFirstMigration } from '../support/first-migration.js';
import { assistant, system, user } from '../support/messages.js';
import { startModelStub } from '../support/model-stub.js';
import { modelAt, startService, temporaryFolder } from '../support/service.js';

/** A database as the first migration leaves it, with one session of three messages. */
function databaseOfFirstMigration(extra: readonly string[] = []): string {
  const file = fileOfFirstMigration();
  const connection = new Database(file);
  for (const statement of extra) connection.exec(statement);
  connection.exec(`
    INSERT INTO sessions (tenant, id, kind, status, message_count, conversation_count, total_chars,
      input_tokens, output_tokens, revision, version, created_at, updated_at)
    VALUES ('default', 'old', 'manual', 'open', 3, 2, 11, 0, 0, 0, 2, 1000, 1000);
    INSERT INTO messages (session_pk, id, seq, position, group_start, running_total, role, tool_call_count,
      chars, text_bytes, created_at, body)
    VALUES
      (1, 'msg_0', 0, NULL, NULL, NULL, 'system', 0, 1, 1, 1000, '${JSON.stringify(system('s'))}'),
      (1, 'msg_1', 1, 0, 0, 5, 'user', 0, 5, 5, 1000, '${JSON.stringify(user('hello'))}'),
      (1, 'msg_2', 2, 1, 1, 11, 'assistant', 0, 6, 6, 1000, '${JSON.stringify(assistant('answer'))}');`);
  connection.close();
  return file;
}

const columns = (file: string) => {
  const connection = new Database(file);
  const rows = connection
    .prepare<[], { name: string; type: string; dflt_value: string | null }>(
      "SELECT name, type, dflt_value FROM pragma_table_info('sessions') WHERE name LIKE 'compact%'",
    )
    .all();
  connection.close();
  return rows;
};

describe('migrating at boot', () => {
  it('creates the tables without the compaction columns first, then adds them', () => {
    expect(columns(databaseOfFirstMigration())).toEqual([]);
    const connection = openWriter(join(temporaryFolder(), 'new.db'));
    expect(migrate(connection, migrationsFolder('sqlite'))).toBe(3);
    expect(migrate(connection, migrationsFolder('sqlite'))).toBe(0);
    connection.close();
  });

  it('opens a database of the first migration and compacts its sessions as if new', async () => {
    const file = databaseOfFirstMigration();
    const stub = await startModelStub(() => ({ content: 'S1' }));
    const service = await startService(modelAt(stub.url), file);
    expect(columns(file)).toEqual([
      { name: 'compact_summary', type: 'TEXT', dflt_value: null },
      { name: 'compact_size', type: 'INTEGER', dflt_value: '0' },
      { name: 'compact_count', type: 'REAL', dflt_value: '50' },
    ]);
    const before = await service.call('GET', '/sessions/old');
    expect(before.body).toMatchObject({ compact_summary: null, compact_size: 0, compact_count: 50 });
    expect(await service.messages('old')).toEqual([system('s'), user('hello'), assistant('answer')]);
    expect((await service.compact('old')).body).toMatchObject({ compactedCount: 1, newSize: 1 });
    await service.call('POST', '/sessions/old/messages', { messages: [user('more')] });
    expect(
      (await service.call('GET', '/sessions/old/messages')).body.data.map(({ seq, position }) => [
        seq,
        position,
      ]),
    ).toEqual([
      [0, null],
      [1, 0],
      [2, 1],
      [3, 2],
    ]);
  });

  it.each([
    ['all three', ['compact_summary text', 'compact_size integer', 'compact_count real']],
    [
      'all three with other definitions',
      ['compact_summary text', 'compact_size integer default 0', 'compact_count integer default 50'],
    ],
    ['one', ['compact_size integer']],
    ['two', ['compact_count real', 'compact_summary text']],
  ])('adopts a database where %s of the columns are there already', async (_, existing) => {
    const file = databaseOfFirstMigration(existing.map((column) => `ALTER TABLE sessions ADD ${column}`));
    for (let boot = 0; boot < 2; boot += 1) {
      const service = await startService({}, file);
      expect(
        columns(file)
          .map(({ name }) => name)
          .sort(),
      ).toEqual(['compact_count', 'compact_size', 'compact_summary']);
      expect((await service.call('GET', '/sessions/old')).body).toMatchObject({
        compact_summary: null,
        compact_size: 0,
        compact_count: 50,
        message_count: 3,
      });
      const recorded = service.sql('SELECT count(*) AS n FROM __drizzle_migrations');
      expect(recorded).toEqual([{ n: 3 }]);
      await service.close();
    }
  });

  it('lets a pointer past the end, left by another program, cover nothing that comes later', async () => {
    const file = databaseOfFirstMigration([
      'ALTER TABLE sessions ADD compact_summary text',
      'ALTER TABLE sessions ADD compact_size integer',
    ]);
    const service = await startService({}, file);
    service.sql("UPDATE sessions SET compact_summary = 'OLD', compact_size = 50");
    await service.call('POST', '/sessions/old/messages', { messages: [user('new'), assistant('newer')] });
    expect((await service.call('GET', '/sessions/old')).body.compact_size).toBe(2);
    expect((await service.view('old')).slice(-2)).toEqual([user('new'), assistant('newer')]);
  });

  it('applies a migration that was merged late, and none twice', () => {
    const folder = join(temporaryFolder(), 'sqlite');
    mkdirSync(join(folder, 'meta'), { recursive: true });
    const write = (entries: { tag: string; when: number; sql: string }[]) => {
      for (const { tag, sql } of entries) writeFileSync(join(folder, `${tag}.sql`), sql);
      const listed = entries.map(({ tag, when }, idx) => ({
        idx,
        version: '6',
        when,
        tag,
        breakpoints: true,
      }));
      writeFileSync(
        join(folder, 'meta/_journal.json'),
        JSON.stringify({ version: '7', dialect: 'sqlite', entries: listed }),
      );
    };
    const base = {
      tag: '0000_a',
      when: 100,
      sql: 'CREATE TABLE sessions (compact_size integer, compact_count real);',
    };
    const newer = { tag: '0002_c', when: 300, sql: 'CREATE TABLE c (x integer);' };
    const late = { tag: '0001_b', when: 200, sql: 'CREATE TABLE b (x integer);' };
    const connection = new Database(join(temporaryFolder(), 'x.db'));
    write([base, newer]);
    expect(migrate(connection, folder)).toBe(2);
    write([base, late, newer]);
    expect(migrate(connection, folder)).toBe(1);
    expect(migrate(connection, folder)).toBe(0);
    connection.close();
  });

  it('keeps the children of a table that is rebuilt', () => {
    const folder = join(temporaryFolder(), 'sqlite');
    cpSync(migrationsFolder('sqlite'), folder, { recursive: true });
    const file = databaseOfFirstMigration();
    const rebuild = [
      'CREATE TABLE `__new_sessions` AS SELECT * FROM `sessions`;',
      'DROP TABLE `sessions`;',
      'ALTER TABLE `__new_sessions` RENAME TO `sessions`;',
      'CREATE UNIQUE INDEX `sessions_pk` ON `sessions` (`pk`);',
    ].join('--> statement-breakpoint\n');
    const journal: { entries: { when: number }[] } = JSON.parse(
      readFileSync(join(folder, 'meta/_journal.json'), 'utf8'),
    );
    const when = Math.max(...journal.entries.map((entry) => entry.when)) + 1;
    writeFileSync(join(folder, '0099_rebuild.sql'), rebuild);
    const entries = [
      ...journal.entries,
      { idx: 99, version: '6', when, tag: '0099_rebuild', breakpoints: true },
    ];
    writeFileSync(join(folder, 'meta/_journal.json'), JSON.stringify({ ...journal, entries }));
    const connection = openWriter(file);
    expect(migrate(connection, folder)).toBe(3);
    expect(connection.prepare('SELECT count(*) AS n FROM messages').get()).toEqual({ n: 3 });
    expect(connection.pragma('foreign_keys', { simple: true })).toBe(1);
    connection.close();
  });

  it('leaves a database as it was when a migration fails, and refuses one of a newer release', () => {
    const folder = join(temporaryFolder(), 'sqlite');
    cpSync(migrationsFolder('sqlite'), folder, { recursive: true });
    writeFileSync(
      join(folder, '0001_session_compaction_columns.sql'),
      'ALTER TABLE sessions ADD x integer;--> statement-breakpoint\nnonsense;',
    );
    const file = databaseOfFirstMigration();
    const connection = openWriter(file);
    const tableOf = () => connection.prepare("SELECT sql FROM sqlite_master WHERE name = 'sessions'").get();
    const before = tableOf();
    expect(() => migrate(connection, folder)).toThrow(/syntax error/);
    expect(tableOf()).toEqual(before);
    connection.exec("INSERT INTO __drizzle_migrations (hash, created_at) VALUES ('future', 9999999999999)");
    expect(() => migrate(connection, migrationsFolder('sqlite'))).toThrow(/newer version/);
    connection.close();
  });

  it('copies a database that has something to migrate beside itself first, and no other', () => {
    const file = databaseOfFirstMigration();
    writeFileSync(`${file}.before-2`, 'left by an earlier try');
    const connection = openWriter(file);
    migrate(connection, migrationsFolder('sqlite'));
    migrate(connection, migrationsFolder('sqlite'));
    connection.close();
    expect(readdirSync(dirname(file)).filter((name) => name.includes('before'))).toEqual(['old.db.before-2']);
    const copy = `${file}.before-2`;
    expect(columns(copy)).toEqual([]);
    const copied = new Database(copy, { readonly: true });
    expect(copied.prepare('SELECT count(*) AS n FROM messages').get()).toEqual({ n: 3 });
    expect(copied.pragma('integrity_check', { simple: true })).toBe('ok');
    copied.close();

    const empty = join(temporaryFolder(), 'new.db');
    const fresh = openWriter(empty);
    migrate(fresh, migrationsFolder('sqlite'));
    fresh.close();
    expect(readdirSync(dirname(empty)).filter((name) => name.includes('before'))).toEqual([]);
  });
});
