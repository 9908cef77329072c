import { existsSync } from 'node:fs';
import { migrateStore, storeStatus } from '../../db/migrate-store.js';
import type { PostgresSettings } from '../../db/postgres/settings.js';
import { sqlitePath } from '../../db/store.sqlite.js';
import { type CopyConnection, CopyRefused } from './connection.js';
import { postgresConnection } from './postgres-connection.js';
import { sqliteConnection } from './sqlite-connection.js';

/** Opens the database that is read. Throws CopyRefused when it is not at this program's migrations. */
export async function openSource(databaseUrl: string, postgres: PostgresSettings): Promise<CopyConnection> {
  const name = nameOf(databaseUrl);
  if (!databaseUrl.startsWith('file:')) {
    await requireMigrated(databaseUrl, postgres);
    return postgresConnection(databaseUrl, name, postgres);
  }
  const path = sqlitePath(databaseUrl);
  if (!existsSync(path)) throw new CopyRefused(`There is no file ${path}`);
  await requireMigrated(databaseUrl, postgres);
  return sqliteConnection(path, name, 'read');
}

/** Opens the database that is written. A SQLite file is made if need be. */
export async function openTarget(databaseUrl: string, postgres: PostgresSettings): Promise<CopyConnection> {
  const name = nameOf(databaseUrl);
  if (!databaseUrl.startsWith('file:')) {
    await requireMigrated(databaseUrl, postgres);
    return postgresConnection(databaseUrl, name, postgres);
  }
  // One with tables of an older release has data: it is left as it is.
  const { applied } = await storeStatus({ databaseUrl, postgres });
  if (applied.length === 0) await migrateStore({ databaseUrl, postgres });
  else await requireMigrated(databaseUrl, postgres);
  return sqliteConnection(sqlitePath(databaseUrl), name, 'write');
}

async function requireMigrated(databaseUrl: string, postgres: PostgresSettings): Promise<void> {
  const { applied, missing } = await storeStatus({ databaseUrl, postgres });
  if (missing.length === 0) return;
  const name = nameOf(databaseUrl);
  throw new CopyRefused(
    `${name} has ${applied.length} of ${applied.length + missing.length} migrations; ` +
      'run `npm run migrate` with it as DATABASE_URL first',
  );
}

/** The URL as it may be shown: without a password, wherever it stands. */
function nameOf(databaseUrl: string): string {
  if (databaseUrl.startsWith('file:')) return databaseUrl;
  if (!URL.canParse(databaseUrl)) return 'the PostgreSQL database';
  const url = new URL(databaseUrl);
  url.password = '';
  url.search = '';
  return url.href;
}
