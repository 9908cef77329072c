import { setTimeout as sleep } from 'node:timers/promises';
import type { Db } from '../store.js';
import { type Connection, isBusy } from './connection.js';
import { asStoreError, unavailable } from './store-error.js';

/** At most this many callbacks share one commit, so that the first does not wait long for the last. */
const GROUP_MAX_JOBS = 256;
/** A group takes no further callback after this time, in ms. */
const GROUP_MAX_MS = 10;
/** How long another process may hold the write lock before callers get STORE_UNAVAILABLE, in ms. */
const LOCK_PATIENCE_MS = 10_000;

interface Job {
  run(): Promise<void>;
  settle(groupError: unknown): void;
}

/**
 * Group commit: callbacks that wait share one transaction and one sync of the disk. They run strictly one
 * after another, each inside a savepoint, so that one that fails takes only its own writes with it; promises
 * settle after the commit, so that nobody is told of a write that is not on disk.
 */
export class WriteQueue {
  readonly #connection: Connection;
  readonly #db: Db;
  readonly #statements;
  #waiting: Job[] = [];
  #working: Promise<void> | null = null;
  #closed = false;

  constructor(connection: Connection, db: Db) {
    this.#connection = connection;
    this.#db = db;
    this.#statements = {
      begin: connection.prepare('BEGIN IMMEDIATE'),
      savepoint: connection.prepare('SAVEPOINT callback'),
      release: connection.prepare('RELEASE callback'),
      undo: connection.prepare('ROLLBACK TO callback'),
      commit: connection.prepare('COMMIT'),
      rollback: connection.prepare('ROLLBACK'),
    };
  }

  enqueue<T>(fn: (db: Db) => Promise<T>): Promise<T> {
    if (this.#closed) return Promise.reject(unavailable('it is closed'));
    return new Promise<T>((resolve, reject) => {
      let report = () => {};
      this.#waiting.push({
        run: async () => {
          try {
            const result = await this.#inSavepoint(fn);
            report = () => resolve(result);
          } catch (error) {
            report = () => reject(asStoreError(error));
          }
        },
        settle: (groupError) => (groupError === undefined ? report() : reject(groupError)),
      });
      this.#working ??= this.#work();
    });
  }

  /** Waits for all that is queued; refuses what comes later. */
  async close(): Promise<void> {
    this.#closed = true;
    while (this.#working !== null) await this.#working;
  }

  async #work(): Promise<void> {
    // Requests of one turn of the event loop arrive one by one: let them gather before the lock is taken.
    await new Promise((resolve) => setImmediate(resolve));
    while (this.#waiting.length > 0) {
      try {
        await this.#begin();
      } catch (error) {
        const reason = isBusy(error)
          ? unavailable('another process holds its lock', error)
          : asStoreError(error);
        for (const job of this.#waiting.splice(0)) job.settle(reason);
        break;
      }
      await this.#runGroup();
      await new Promise((resolve) => setImmediate(resolve));
    }
    this.#working = null;
  }

  /** The driver's own busy wait would block the event loop; this one lets it turn. */
  async #begin(): Promise<void> {
    const deadline = Date.now() + LOCK_PATIENCE_MS;
    for (;;) {
      try {
        this.#statements.begin.run();
        return;
      } catch (error) {
        if (!isBusy(error) || Date.now() > deadline) throw error;
        await sleep(1 + Math.random() * 9);
      }
    }
  }

  async #runGroup(): Promise<void> {
    const started = performance.now();
    const group: Job[] = [];
    let groupError: unknown;
    while (group.length < GROUP_MAX_JOBS && performance.now() - started < GROUP_MAX_MS) {
      const job = this.#waiting.shift();
      if (job === undefined) break;
      group.push(job);
      await job.run();
      if (!this.#connection.inTransaction) {
        // SQLite undid the whole transaction by itself (disk full, I/O error): nothing of the group is left.
        groupError = unavailable('a write failed and the transaction was undone');
        break;
      }
    }
    if (groupError === undefined) {
      try {
        this.#statements.commit.run();
      } catch (error) {
        groupError = unavailable('the commit failed', error);
        if (this.#connection.inTransaction) this.#statements.rollback.run();
      }
    }
    for (const job of group) job.settle(groupError);
  }

  async #inSavepoint<T>(fn: (db: Db) => Promise<T>): Promise<T> {
    this.#statements.savepoint.run();
    try {
      const result = await fn(this.#db);
      this.#statements.release.run();
      return result;
    } catch (error) {
      if (this.#connection.inTransaction) {
        this.#statements.undo.run();
        this.#statements.release.run();
      }
      throw error;
    }
  }
}
