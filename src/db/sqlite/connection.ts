import Database from 'better-sqlite3';
import { type SQLWrapper, sql } from 'drizzle-orm';
import { drizzle } from 'drizzle-orm/better-sqlite3';
import { tables } from '../schema.sqlite.js';
import type { Db } from '../store.js';

export type Connection = Database.Database;

/** How long one statement may block the event loop waiting for another process, in ms. */
const WRITER_BUSY_MS = 20;
const READER_BUSY_MS = 5_000;
/** A WAL file left longer than this after a checkpoint is cut back to it, in bytes. */
const JOURNAL_SIZE_LIMIT = 64 * 1024 * 1024;
/** Pages of WAL between checkpoints (40 MB): fewer checkpoints keep the tail of write latency short. */
const CHECKPOINT_PAGES = 10_000;
const READER_CACHE_KIB = 32_000;

/** The connection that writes. Full sync: a transaction that was answered is on disk. */
export function openWriter(path: string): Connection {
  const connection = new Database(path, { timeout: WRITER_BUSY_MS });
  // Switching to WAL needs the file alone; two processes that start together meet here.
  const mode = withPatience(() => connection.pragma('journal_mode = WAL', { simple: true }));
  if (mode !== 'wal') {
    connection.close();
    throw new Error(`${path}: journal mode is ${String(mode)}, not wal; is it on a network disk?`);
  }
  connection.pragma('synchronous = FULL');
  connection.pragma('foreign_keys = ON');
  connection.pragma(`journal_size_limit = ${JOURNAL_SIZE_LIMIT}`);
  connection.pragma(`wal_autocheckpoint = ${CHECKPOINT_PAGES}`);
  return connection;
}

/** A connection that cannot write. In WAL mode it waits for nobody but a recovery after a crash. */
export function openReader(path: string): Connection {
  const connection = new Database(path, { timeout: READER_BUSY_MS, fileMustExist: true });
  connection.pragma('foreign_keys = ON');
  connection.pragma(`cache_size = -${READER_CACHE_KIB}`);
  connection.pragma('query_only = ON');
  return connection;
}

/** Retries while another process holds a lock. Blocks the event loop: for the boot only. */
export function withPatience<T>(action: () => T): T {
  const deadline = Date.now() + 30_000;
  for (;;) {
    try {
      return action();
    } catch (error) {
      if (!isBusy(error) || Date.now() > deadline) throw error;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 20);
    }
  }
}

export function isBusy(error: unknown): boolean {
  return error instanceof Database.SqliteError && error.code.startsWith('SQLITE_BUSY');
}

/**
 * Wraps a connection for the repositories. The driver is synchronous and its builders can be awaited all the
 * same; the cast is the one place where the synchronous and the asynchronous builder types meet.
 */
export function asDb(connection: Connection): Db {
  return {
    orm: drizzle(connection) as unknown as Db['orm'],
    tables,
    nowMs: sql<number>`CAST(unixepoch('now', 'subsec') * 1000 AS INTEGER)`,
    byteLength: (column: SQLWrapper) => sql<number>`octet_length(${column})`,
    joinedUtf8: (column: SQLWrapper) => sql<Buffer | null>`CAST(group_concat(${column}, ',') AS BLOB)`,
    // Writing transactions run one after another.
    locked: (query) => query,
    lockedUnlessTaken: (query) => query,
    lock: async () => {},
  };
}
