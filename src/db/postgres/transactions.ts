import { setTimeout as sleep } from 'node:timers/promises';
import type pg from 'pg';
import { AppError } from '../../errors.js';
import type { Db } from '../store.js';
import type { ConnectionDbs } from './connections.js';
import type { PostgresSettings } from './settings.js';
import { asStoreError, mayRunAgain, serverError, unavailable } from './store-error.js';

/** Runs of one transaction, where others are in its way each time. */
const MAX_RUNS = 6;

/**
 * Transactions on connections of a pool. Writing ones are READ COMMITTED: each statement sees what was committed
 * when it began, and whoever reads in order to write locks what he reads (`Db.locked`).
 */
export class Transactions {
  readonly #pool: pg.Pool;
  readonly #dbsOf: (client: pg.PoolClient) => ConnectionDbs;
  readonly #beginWriting: string;
  readonly #beginReading: string;

  constructor(pool: pg.Pool, dbsOf: (client: pg.PoolClient) => ConnectionDbs, settings: PostgresSettings) {
    const limits = settings.transactionPooler ? localLimits(settings) : '';
    this.#pool = pool;
    this.#dbsOf = dbsOf;
    this.#beginWriting = `BEGIN ISOLATION LEVEL READ COMMITTED${limits}`;
    this.#beginReading = `BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY${limits}`;
  }

  /** Runs `fn` once more when another transaction was let go first. */
  async write<T>(fn: (db: Db) => Promise<T>): Promise<T> {
    for (let run = 1; ; run += 1) {
      try {
        return await this.#write(fn);
      } catch (error) {
        if (!mayRunAgain(error)) throw error;
        if (run === MAX_RUNS) throw unavailable('others write the same at once', error);
        await sleep(Math.random() * 10 * 2 ** run);
      }
    }
  }

  /** On one state, that of the first statement. */
  async read<T>(fn: (db: Db) => Promise<T>): Promise<T> {
    const client = await this.#connect();
    const result = await this.#inside(client, this.#beginReading, () => fn(this.#dbsOf(client).reading));
    // What was read is good whatever becomes of this: nobody waits for it.
    client.query('COMMIT').then(
      () => client.release(),
      () => client.release(true),
    );
    return result;
  }

  async #write<T>(fn: (db: Db) => Promise<T>): Promise<T> {
    const client = await this.#connect();
    const result = await this.#inside(client, this.#beginWriting, async () => {
      const done = await fn(this.#dbsOf(client).writing);
      const { command } = await client.query('COMMIT');
      // A failed statement whose error was caught has undone all of it; the server says so in one word only.
      if (command !== 'COMMIT') throw new Error('the transaction was undone: one of its statements failed');
      return done;
    });
    client.release();
    return result;
  }

  /** Begins and runs `fn`. When something fails, all is undone, and the connection given back or dropped. */
  async #inside<T>(client: pg.PoolClient, begin: string, fn: () => Promise<T>): Promise<T> {
    // Not awaited yet: it travels with the first statement of `fn`, and fails with the connection only.
    const begun = client.query(begin).then(
      () => null,
      (error: unknown) => asStoreError(error),
    );
    try {
      const result = await fn();
      const failure = await begun;
      if (failure !== null) throw failure;
      return result;
    } catch (error) {
      await begun;
      // What a migration has made useless stays so on this connection.
      client.release(!(await rolledBack(client)) || serverError(error)?.code === '0A000');
      throw asStoreError(error);
    }
  }

  async #connect(): Promise<pg.PoolClient> {
    try {
      return await this.#pool.connect();
    } catch (error) {
      const reason = asStoreError(error);
      throw reason instanceof AppError ? reason : unavailable('there is no connection', error);
    }
  }
}

/** False when the connection is of no use any more. */
async function rolledBack(client: pg.PoolClient): Promise<boolean> {
  try {
    await client.query('ROLLBACK');
    return true;
  } catch {
    return false;
  }
}

/** For poolers: limits that end with the transaction, in the same message as its BEGIN. */
function localLimits(settings: PostgresSettings): string {
  return [
    '',
    `SET LOCAL statement_timeout = ${settings.statementTimeoutMs}`,
    `SET LOCAL lock_timeout = ${settings.lockTimeoutMs}`,
    `SET LOCAL idle_in_transaction_session_timeout = ${settings.idleTransactionTimeoutMs}`,
  ].join('; ');
}
