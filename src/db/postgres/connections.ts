import pg from 'pg';
import type { Db } from '../store.js';
import { asDb } from './db.js';
import { type Queryable, runner } from './queries.js';
import type { PostgresSettings } from './settings.js';

/** Beyond what a statement may take, when the server says nothing more about it, in ms. */
const ANSWER_MARGIN_MS = 5_000;
/** How long a connection stays open without use, in ms. */
const IDLE_MS = 30_000;

/** How to connect; `extra` limits replace those of the settings. */
export function clientConfig(url: string, settings: PostgresSettings): pg.ClientConfig {
  const { statementTimeoutMs, lockTimeoutMs, idleTransactionTimeoutMs, transactionPooler } = settings;
  return {
    connectionString: url,
    fallback_application_name: 'compactd',
    connectionTimeoutMillis: settings.connectTimeoutMs,
    // A server that is gone without a word is noticed.
    keepAlive: true,
    query_timeout: statementTimeoutMs + ANSWER_MARGIN_MS,
    // Poolers refuse what they do not know of a connection's start.
    ...(transactionPooler
      ? {}
      : {
          statement_timeout: statementTimeoutMs,
          lock_timeout: lockTimeoutMs,
          idle_in_transaction_session_timeout: idleTransactionTimeoutMs,
        }),
  };
}

/** A pool whose connections may break without anybody being harmed but those who use them. */
export function openPool(url: string, settings: PostgresSettings, onLost: (error: Error) => void): pg.Pool {
  const pool = new pg.Pool({
    ...clientConfig(url, settings),
    max: settings.poolSize,
    idleTimeoutMillis: IDLE_MS,
    // BEGIN travels with the statement after it.
    pipeline: true,
  });
  pool.on('error', onLost);
  // The pool listens to idle connections only; one that breaks between two statements must not end the process.
  pool.on('connect', (client) => client.on('error', () => {}));
  return pool;
}

/** What repositories use a connection through, built once for each: prepared statements hang on it. */
export interface ConnectionDbs {
  readonly writing: Db;
  readonly reading: Db;
}

/** Gives the `Db`s of a connection. */
export function connectionDbs(named: boolean): (client: Queryable) => ConnectionDbs {
  const known = new WeakMap<Queryable, ConnectionDbs>();
  return (client) => {
    let dbs = known.get(client);
    if (dbs === undefined) {
      const queries = runner(client, named);
      dbs = { writing: asDb(queries, true), reading: asDb(queries, false) };
      known.set(client, dbs);
    }
    return dbs;
  };
}
