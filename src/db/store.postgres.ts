import { appendRun } from './postgres/append-run.js';
import { connectionDbs, openPool } from './postgres/connections.js';
import { asDb } from './postgres/db.js';
import { PostgresNews } from './postgres/news.js';
import { runner } from './postgres/queries.js';
import type { PostgresSettings } from './postgres/settings.js';
import { isUniqueViolation } from './postgres/store-error.js';
import { Transactions } from './postgres/transactions.js';
import type { Store } from './store.js';

/**
 * The PostgreSQL store over a pool of connections. It connects when it is first used, and again when the server has
 * been away; the schema is for the caller to have looked at.
 *
 * @param onLost told of idle connections that broke: the next use opens another one
 */
export function openPostgresStore(
  url: string,
  settings: PostgresSettings,
  onLost: (error: Error) => void,
): Store {
  const pool = openPool(url, settings, onLost);
  const named = !settings.transactionPooler;
  const queries = runner(pool, named);
  const news = new PostgresNews(url, settings, queries);
  const transactions = new Transactions(pool, connectionDbs(named), settings);
  let closing: Promise<void> | null = null;
  return {
    read: asDb(queries, false),
    snapshot: (fn) => transactions.read(fn),
    tx: (fn) => transactions.write(fn),
    news,
    appendRun: (run) => appendRun(queries, run),
    isUniqueViolation,
    ping: async () => {
      await queries.query({ text: 'SELECT 1' });
    },
    close: () => {
      // Waits for the connections that are in use.
      closing ??= news.close().then(() => pool.end());
      return closing;
    },
  };
}
