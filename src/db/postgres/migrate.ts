import pg from 'pg';
import {
  BOOKKEEPING,
  type Migration,
  type MigrationStatus,
  migrationsFolder,
  readMigrations,
  SchemaMismatch,
  statusOf,
} from '../migrations.js';
import { clientConfig } from './connections.js';
import type { PostgresSettings } from './settings.js';
import { asStoreError, serverError } from './store-error.js';

/** Any number that nothing else locks in the database. */
const LOCK = 0x636f6d70;
const COMPACTION_COLUMNS = '0001_session_compaction_columns';
/** How long a migration waits for those who use a table: everybody else waits behind it, in ms. */
const TABLE_LOCK_MS = 10_000;

/** Which migrations the database has had, and which not. */
export async function migrationStatus(
  url: string,
  settings: PostgresSettings,
  folder: string = migrationsFolder('postgresql'),
): Promise<MigrationStatus> {
  return withClient(url, settings, async (client) =>
    statusOf(readMigrations(folder), await recorded(client)),
  );
}

/** Refuses a database that is not at this program's migrations. Throws SchemaMismatch. */
export async function requireMigrated(url: string, settings: PostgresSettings): Promise<void> {
  const { applied, missing } = await migrationStatus(url, settings);
  if (missing.length === 0) return;
  const all = applied.length + missing.length;
  throw new SchemaMismatch(
    `the database has ${applied.length} of ${all} migrations: run \`npm run migrate\`, or start with MIGRATE_ON_BOOT=true`,
  );
}

/**
 * Brings the database to the newest schema, or throws and leaves it as it was: all in one transaction, under a lock,
 * so that of several that migrate at once one does and the others find nothing to do.
 *
 * @returns the migrations that were applied
 */
export async function migratePostgres(
  url: string,
  settings: PostgresSettings,
  folder: string = migrationsFolder('postgresql'),
): Promise<readonly Migration[]> {
  return withClient(url, settings, async (client) => {
    await client.query('BEGIN; SET LOCAL statement_timeout = 0; SET LOCAL lock_timeout = 0');
    try {
      await client.query('SELECT pg_advisory_xact_lock($1)', [LOCK]);
      await client.query(`SET LOCAL lock_timeout = ${TABLE_LOCK_MS}`);
      const { missing } = statusOf(readMigrations(folder), await recorded(client));
      if (missing.length > 0) await apply(client, missing);
      await client.query('COMMIT');
      return missing;
    } catch (error) {
      await client.query('ROLLBACK').catch(() => {});
      throw error;
    }
  });
}

async function recorded(client: pg.Client): Promise<number[]> {
  const { rows: found } = await client.query('SELECT to_regclass($1) IS NOT NULL AS there', [BOOKKEEPING]);
  if (found[0]?.there !== true) return [];
  const { rows } = await client.query(`SELECT created_at FROM ${BOOKKEEPING}`);
  return rows.map(({ created_at }) => Number(created_at));
}

async function apply(client: pg.Client, missing: readonly Migration[]): Promise<void> {
  await client.query(
    `CREATE TABLE IF NOT EXISTS ${BOOKKEEPING}
     (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, hash text NOT NULL, created_at bigint NOT NULL)`,
  );
  for (const { tag, sql, hash, folderMillis } of missing) {
    for (const statement of sql) await client.query(adapted(statement));
    if (tag === COMPACTION_COLUMNS) {
      // An adopted column may lack the NOT NULL and default of the migration, and hold null.
      await client.query('UPDATE sessions SET compact_size = 0 WHERE compact_size IS NULL');
      await client.query('UPDATE sessions SET compact_count = 50 WHERE compact_count IS NULL');
    }
    await client.query(`INSERT INTO ${BOOKKEEPING} (hash, created_at) VALUES ($1, $2)`, [hash, folderMillis]);
  }
}

/**
 * Tables go where the connection's search_path says, which need not be `public`. Databases exist that got some of the
 * compaction columns by hand: those are adopted, not added again.
 */
function adapted(statement: string): string {
  return statement
    .replaceAll('"public".', '')
    .replace(/^(\s*ALTER TABLE "\w+" ADD COLUMN) /, '$1 IF NOT EXISTS ');
}

/** A connection of its own: migrations take longer than requests may. */
async function withClient<T>(
  url: string,
  settings: PostgresSettings,
  fn: (client: pg.Client) => Promise<T>,
): Promise<T> {
  const { query_timeout: _, ...config } = clientConfig(url, settings);
  const client = new pg.Client(config);
  client.on('error', () => {});
  try {
    await client.connect();
    return await fn(client);
  } catch (error) {
    // Its class and text are what an operator needs; a missing privilege above all.
    throw serverError(error) === undefined ? asStoreError(error) : error;
  } finally {
    await client.end().catch(() => {});
  }
}
