import type { SQL, SQLWrapper } from 'drizzle-orm';
import type { BaseSQLiteDatabase } from 'drizzle-orm/sqlite-core';
import type { Tables } from './tables.js';

type NewMessage = Tables['messages']['$inferInsert'];

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
  /** Aggregate: the texts of the rows, which come in the order of `order`, joined by commas, as UTF-8 bytes. */
  joinedUtf8(column: SQLWrapper, order: SQLWrapper): SQL<Buffer | null>;
  /**
   * Marks a select as one whose rows this transaction is going to change, or must find as they are until its end:
   * nobody else changes them, and what others change at the moment is waited for. Rows of several tables are locked
   * in the order of the tables. Changes nothing where there is nothing to lock against: outside of `tx`, and where
   * transactions run one after another.
   */
  locked<Query>(query: Query): Query;
  /** As `locked`, but rows that others have locked are left out. */
  lockedUnlessTaken<Query>(query: Query): Query;
  /** Waits for every other transaction that has locked this name: for rules that no single row stands for. */
  lock(name: string): Promise<void>;
}

/** A message to append: its row without what the session gives it. */
export type RunMessage = Omit<NewMessage, 'pk' | 'session_pk' | 'created_at'> & {
  readonly position: number | null;
  readonly running_total: number | null;
};

/** Messages that no earlier one matters to, numbered as if the session were empty. */
export interface AppendRun {
  readonly tenant: string;
  readonly id: string;
  readonly messages: readonly RunMessage[];
  /** Whether they would end a turn that is open although nobody runs it: that is left to a transaction. */
  readonly speaks: boolean;
  readonly nowMs: number;
}

/** Where the run came to stand: what its own `seq` and positions are counted from. */
export interface RunStart {
  readonly seq: number;
  readonly position: number;
}

/**
 * Short words between the processes of one database, without promise: some are lost, and where a database carries
 * none, all are. Whoever waits for news polls as well, less often than he would without.
 */
export interface News {
  /** Tells the other processes, after what it tells of was committed. ASCII, at most 200 chars. */
  publish(text: string): void;
  /** Hears what other processes publish, until the returned function is called. */
  subscribe(listener: (text: string) => void): () => void;
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
   * Runs `fn` in a writing transaction and resolves once its effects are on disk. Throws what `fn` throws, its writes
   * undone; STORE_UNAVAILABLE when the database cannot be used.
   *
   * Where many processes write at once, other transactions run beside this one: what it reads in order to write it
   * reads with `Db.locked`. When two wait for each other, one is undone and `fn` runs once more, so that all it
   * changes outside of the database must be right when it is done again.
   */
  tx<T>(fn: (db: Db) => Promise<T>): Promise<T>;
  readonly news: News;
  /**
   * Appends as one statement, where that is quicker than a transaction; null where it is not. Gives null, and does
   * nothing, when there is no such session, it is closed, or has a turn that stands against it: a transaction then
   * finds out which.
   */
  readonly appendRun: ((run: AppendRun) => Promise<RunStart | null>) | null;
  isUniqueViolation(error: unknown): boolean;
  /** Resolves when the database answers; rejects with STORE_UNAVAILABLE otherwise. */
  ping(): Promise<void>;
  /** Waits for queued writes and open snapshots, then closes every connection. Idempotent. */
  close(): Promise<void>;
}
