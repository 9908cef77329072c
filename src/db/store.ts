import type { SQL, SQLWrapper } from 'drizzle-orm';
import type { BaseSQLiteDatabase } from 'drizzle-orm/sqlite-core';
import type { Tables } from './tables.js';

/**
 * What repositories see of a database connection: drizzle's builders, the dialect's tables, and the few
 * expressions that dialects write differently. Builders are awaited, never `.run()`, `.all()` or `.get()`.
 */
export interface Db {
  readonly orm: Pick<BaseSQLiteDatabase<'async', unknown>, 'select' | 'insert' | 'update' | 'delete'>;
  readonly tables: Tables;
  /** The store's clock in ms since the epoch; the only clock that leases are measured by. */
  readonly nowMs: SQL<number>;
  /** UTF-8 bytes of a text column, without reading the text itself. */
  byteLength(column: SQLWrapper): SQL<number>;
  /** Aggregate: the texts of the rows, in the order they come, joined by commas, as UTF-8 bytes. */
  joinedUtf8(column: SQLWrapper): SQL<Buffer | null>;
}

/**
 * The seam between the service and a database. Nothing but work on the given `db` may be awaited inside
 * `snapshot` and `tx`: both hold a resource that others wait for.
 */
export interface Store {
  /** For single statements; each sees what was committed when it ran. */
  readonly read: Db;
  /** Runs `fn` on one consistent state: an old summary never meets new rows. */
  snapshot<T>(fn: (db: Db) => Promise<T>): Promise<T>;
  /**
   * Runs `fn` in a writing transaction, one after another with all others, and resolves once its effects are
   * on disk. Throws what `fn` throws, its writes undone; STORE_UNAVAILABLE when the database cannot be used.
   */
  tx<T>(fn: (db: Db) => Promise<T>): Promise<T>;
  isUniqueViolation(error: unknown): boolean;
  /** Resolves when the database answers; rejects with STORE_UNAVAILABLE otherwise. */
  ping(): Promise<void>;
  /** Waits for queued writes and open snapshots, then closes every connection. Idempotent. */
  close(): Promise<void>;
}
