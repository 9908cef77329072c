import { cpSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { migrationsFolder } from '../../src/db/migrations.js';
import { openStore } from '../../src/db/open-store.js';
import { migratePostgres, migrationStatus } from '../../src/db/postgres/migrate.js';
import { POSTGRES_DEFAULTS } from '../../src/db/postgres/settings.js';
import { freshDatabase } from '../support/postgres.js';
import { temporaryFolder } from '../support/service.js';
import { postgresSql } from '../support/sql.js';

const tagsOf = (migrations: readonly { readonly tag: string }[]) => migrations.map(({ tag }) => tag);
const migrate = (url: string, folder?: string) => migratePostgres(url, POSTGRES_DEFAULTS, folder);
const statusOf = (url: string) => migrationStatus(url, POSTGRES_DEFAULTS);
const open = (url: string, migrateOnBoot: boolean) =>
  openStore({ databaseUrl: url, migrateOnBoot, postgres: POSTGRES_DEFAULTS }, () => {});

/** A copy of the migrations with the first `count` of them. */
function firstMigrations(count: number): string {
  const folder = join(temporaryFolder(), 'postgresql');
  cpSync(migrationsFolder('postgresql'), folder, { recursive: true });
  const path = join(folder, 'meta/_journal.json');
  const journal: { entries: object[] } = JSON.parse(readFileSync(path, 'utf8'));
  writeFileSync(path, JSON.stringify({ ...journal, entries: journal.entries.slice(0, count) }));
  return folder;
}

const insertSession = (url: string) =>
  postgresSql(
    url,
    `INSERT INTO sessions (tenant, id, kind, status, message_count, conversation_count, total_chars, input_tokens,
       output_tokens, revision, version, created_at, updated_at)
     VALUES ('default', 's', 'manual', 'open', 0, 0, 0, 0, 0, 0, 1, 1, 1)`,
    [],
  );

describe('migrating a PostgreSQL database', () => {
  it('applies everything once, and says what is there and what is missing', async () => {
    const url = await freshDatabase('empty');
    const all = tagsOf((await statusOf(url)).missing);
    expect(all.slice(0, 2)).toEqual([
      '0000_sessions_messages_compactions',
      '0001_session_compaction_columns',
    ]);
    expect(tagsOf(await migrate(url))).toEqual(all);
    expect(tagsOf(await migrate(url))).toEqual([]);
    const { applied, missing } = await statusOf(url);
    expect([tagsOf(applied), missing]).toEqual([all, []]);
  });

  it('is done by one of many that start at once', async () => {
    const url = await freshDatabase('empty');
    const applied = await Promise.all(Array.from({ length: 6 }, () => migrate(url)));
    const counts = applied.map((each) => each.length).sort();
    expect(counts.slice(0, 5)).toEqual([0, 0, 0, 0, 0]);
    expect(counts[5]).toBeGreaterThan(2);
  });

  it('brings a database of the first migration, with sessions in it, to the newest', async () => {
    const url = await freshDatabase('empty');
    await migrate(url, firstMigrations(1));
    insertSession(url);
    await migrate(url);
    expect(
      postgresSql(url, 'SELECT id, compact_summary, compact_size, compact_count FROM sessions', []),
    ).toEqual([{ id: 's', compact_summary: null, compact_size: 0, compact_count: 50 }]);
  });

  it.each([
    ['one', ['compact_size integer']],
    ['all', ['compact_summary text', 'compact_size integer', 'compact_count real']],
  ])('adopts %s of the compaction columns that are there already', async (_, columns) => {
    const url = await freshDatabase('empty');
    await migrate(url, firstMigrations(1));
    insertSession(url);
    for (const column of columns) postgresSql(url, `ALTER TABLE sessions ADD COLUMN ${column}`, []);
    await migrate(url);
    expect(postgresSql(url, 'SELECT compact_summary, compact_size, compact_count FROM sessions', [])).toEqual(
      [{ compact_summary: null, compact_size: 0, compact_count: 50 }],
    );
  });

  it('leaves the database as it was when a migration fails', async () => {
    const url = await freshDatabase('empty');
    await migrate(url, firstMigrations(1));
    const folder = firstMigrations(2);
    writeFileSync(
      join(folder, '0001_session_compaction_columns.sql'),
      'ALTER TABLE "sessions" ADD COLUMN "x" text;--> statement-breakpoint\nnonsense;',
    );
    await expect(migrate(url, folder)).rejects.toThrow(/syntax error/);
    expect(tagsOf((await statusOf(url)).applied)).toEqual(['0000_sessions_messages_compactions']);
    expect(postgresSql(url, "SELECT 1 FROM information_schema.columns WHERE column_name = 'x'", [])).toEqual(
      [],
    );
  });

  it('puts the tables into the schema that the connection names', async () => {
    const url = new URL(await freshDatabase('empty'));
    postgresSql(url.href, 'CREATE SCHEMA of_its_own', []);
    url.searchParams.set('options', '-c search_path=of_its_own');
    await migrate(url.href);
    expect(
      postgresSql(
        url.href,
        "SELECT table_schema FROM information_schema.tables WHERE table_name = 'tasks'",
        [],
      ),
    ).toEqual([{ table_schema: 'of_its_own' }]);
    await (await open(url.href, false)).close();
  });
});

describe('starting on a PostgreSQL database', () => {
  it('refuses one that is behind, and says what to do', async () => {
    const url = await freshDatabase('empty');
    await expect(open(url, false)).rejects.toThrow(
      /^the database has 0 of \d migrations: run `npm run migrate`, or start with MIGRATE_ON_BOOT=true$/,
    );
    await migrate(url, firstMigrations(2));
    await expect(open(url, false)).rejects.toThrow(/has 2 of \d migrations/);
  });

  it('migrates it where that is wanted', async () => {
    const url = await freshDatabase('empty');
    const store = await open(url, true);
    await store.ping();
    await store.close();
    await (await open(url, false)).close();
  });

  it('refuses one of a newer version', async () => {
    const url = await freshDatabase();
    postgresSql(
      url,
      "INSERT INTO __drizzle_migrations (hash, created_at) VALUES ('future', 9999999999999)",
      [],
    );
    for (const migrateOnBoot of [true, false]) {
      await expect(open(url, migrateOnBoot)).rejects.toThrow(/newer version/);
    }
  });

  it('says that a server cannot be reached', async () => {
    await expect(open('postgres://nobody@127.0.0.1:1/none', false)).rejects.toMatchObject({
      code: 'STORE_UNAVAILABLE',
      message: 'The database cannot be used: the connection failed (ECONNREFUSED)',
    });
  });
});
