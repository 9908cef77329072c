import { existsSync } from 'node:fs';
import {
  type Migration,
  type MigrationStatus,
  migrationsFolder,
  readMigrations,
  statusOf,
} from './migrations.js';
import { migratePostgres, migrationStatus } from './postgres/migrate.js';
import type { PostgresSettings } from './postgres/settings.js';
import { openReader } from './sqlite/connection.js';
import { appliedTimes } from './sqlite/migrate.js';
import { openSqliteStore, sqlitePath } from './store.sqlite.js';

/** The database that is looked at or migrated, without serving it. */
export interface MigrationTarget {
  /** As DATABASE_URL. */
  readonly databaseUrl: string;
  readonly postgres: PostgresSettings;
}

/** Which migrations a database has had; one that is not there yet has had none. */
export async function storeStatus({ databaseUrl, postgres }: MigrationTarget): Promise<MigrationStatus> {
  if (!databaseUrl.startsWith('file:')) return migrationStatus(databaseUrl, postgres);
  const file = sqlitePath(databaseUrl);
  const migrations = readMigrations(migrationsFolder('sqlite'));
  if (!existsSync(file)) return statusOf(migrations, []);
  const reader = openReader(file);
  try {
    return statusOf(migrations, appliedTimes(reader));
  } finally {
    reader.close();
  }
}

/** Brings a database to the newest schema. Gives the migrations that it was without. */
export async function migrateStore(target: MigrationTarget): Promise<readonly Migration[]> {
  const { databaseUrl, postgres } = target;
  if (!databaseUrl.startsWith('file:')) return migratePostgres(databaseUrl, postgres);
  const { missing } = await storeStatus(target);
  await openSqliteStore(sqlitePath(databaseUrl)).close();
  return missing;
}
