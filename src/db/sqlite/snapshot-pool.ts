import type { Db } from '../store.js';
import { asDb, type Connection, openReader } from './connection.js';
import { asStoreError, unavailable } from './store-error.js';

interface Reader {
  readonly connection: Connection;
  readonly db: Db;
}

/** Snapshots open at once; each holds a file handle and its own page cache. */
const MAX_READERS = 8;

/** Read-only connections, each lent to one snapshot at a time inside BEGIN. */
export class SnapshotPool {
  readonly #path: string;
  readonly #idle: Reader[] = [];
  readonly #waiting: ((reader: Reader) => void)[] = [];
  #open = 0;
  #closing: (() => void) | null = null;
  #closed = false;

  constructor(path: string) {
    this.#path = path;
  }

  async run<T>(fn: (db: Db) => Promise<T>): Promise<T> {
    const reader = await this.#take();
    try {
      reader.connection.exec('BEGIN');
      try {
        return await fn(reader.db);
      } finally {
        reader.connection.exec('COMMIT');
      }
    } catch (error) {
      throw asStoreError(error);
    } finally {
      this.#giveBack(reader);
    }
  }

  /** Waits for the snapshots that are open; refuses later ones. */
  async close(): Promise<void> {
    this.#closed = true;
    if (this.#idle.length < this.#open) await new Promise<void>((resolve) => (this.#closing = resolve));
    for (const reader of this.#idle.splice(0)) reader.connection.close();
    this.#open = 0;
  }

  async #take(): Promise<Reader> {
    if (this.#closed) throw unavailable('it is closed');
    const idle = this.#idle.pop();
    if (idle !== undefined) return idle;
    if (this.#open >= MAX_READERS) return new Promise((resolve) => this.#waiting.push(resolve));
    const connection = openReader(this.#path);
    this.#open += 1;
    return { connection, db: asDb(connection) };
  }

  #giveBack(reader: Reader): void {
    const next = this.#waiting.shift();
    if (next !== undefined) {
      next(reader);
      return;
    }
    this.#idle.push(reader);
    if (this.#idle.length === this.#open) this.#closing?.();
  }
}
