import { PostgresServer } from '../../test/support/postgres-server.js';
import { built } from './built.js';

/** Runs `fn` with the URL of an empty, migrated database, on a server of its own that syncs every commit. */
export async function withPostgres<T>(fn: (url: string) => Promise<T>): Promise<T> {
  const { migratePostgres } =
    await built<typeof import('../../src/db/postgres/migrate.js')>('db/postgres/migrate.js');
  const { POSTGRES_DEFAULTS } =
    await built<typeof import('../../src/db/postgres/settings.js')>('db/postgres/settings.js');
  const server = await PostgresServer.create({ durable: true });
  try {
    await migratePostgres(server.url(), POSTGRES_DEFAULTS);
    return await fn(server.url());
  } finally {
    await server.remove();
  }
}
