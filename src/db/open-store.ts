import { migratePostgres, requireMigrated } from './postgres/migrate.js';
import type { PostgresSettings } from './postgres/settings.js';
import type { Store } from './store.js';
import { openPostgresStore } from './store.postgres.js';
import { openSqliteStore, sqlitePath } from './store.sqlite.js';

export interface StoreOptions {
  /** `file:` and a path, or `postgres://`. */
  readonly databaseUrl: string;
  /** Whether a PostgreSQL database is migrated here; otherwise it must be at the newest migration already. */
  readonly migrateOnBoot: boolean;
  readonly postgres: PostgresSettings;
}

/**
 * Opens the store that the configuration names, with its schema as this program needs it.
 *
 * @param onLost told of connections that broke while nobody used them
 * @throws SchemaMismatch, or whatever keeps the database from being used; it is then as it was
 */
export async function openStore(options: StoreOptions, onLost: (error: Error) => void): Promise<Store> {
  const { databaseUrl, migrateOnBoot, postgres } = options;
  if (databaseUrl.startsWith('file:')) return openSqliteStore(sqlitePath(databaseUrl));
  await (migrateOnBoot ? migratePostgres : requireMigrated)(databaseUrl, postgres);
  return openPostgresStore(databaseUrl, postgres, onLost);
}
