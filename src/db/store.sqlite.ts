import { mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { migrationsFolder } from './migrations.js';
import { asDb, openReader, openWriter } from './sqlite/connection.js';
import { migrate } from './sqlite/migrate.js';
import { SnapshotPool } from './sqlite/snapshot-pool.js';
import { asStoreError, isUniqueViolation } from './sqlite/store-error.js';
import { WriteQueue } from './sqlite/write-queue.js';
import type { Store } from './store.js';

/**
 * The file that a `file:` URL or `file:` path names. `file:./data/x.db` is relative to the working directory,
 * as everybody writes it, though no URL standard says so.
 */
export function sqlitePath(databaseUrl: string): string {
  if (databaseUrl.startsWith('file://')) return fileURLToPath(databaseUrl);
  return databaseUrl.slice('file:'.length);
}

/**
 * Opens the SQLite store on one file, creating and migrating it as needed.
 * Throws when the file cannot be opened or migrated; it is then as it was.
 */
export function openSqliteStore(path: string): Store {
  mkdirSync(dirname(path), { recursive: true });
  const writer = openWriter(path);
  try {
    migrate(writer, migrationsFolder('sqlite'));
  } catch (error) {
    writer.close();
    throw error;
  }
  const reader = openReader(path);
  const read = asDb(reader);
  const queue = new WriteQueue(writer, asDb(writer));
  const snapshots = new SnapshotPool(path);
  let closing: Promise<void> | null = null;

  const close = async () => {
    await queue.close();
    await snapshots.close();
    reader.close();
    writer.pragma('optimize');
    writer.close();
  };

  return {
    read,
    snapshot: (fn) => snapshots.run(fn),
    tx: (fn) => queue.enqueue(fn),
    // A file calls nobody.
    news: { publish: () => {}, subscribe: () => () => {} },
    // Transactions share their way to the disk.
    appendRun: null,
    isUniqueViolation,
    ping: async () => {
      try {
        reader.prepare('SELECT 1').get();
      } catch (error) {
        throw asStoreError(error);
      }
    },
    close: () => {
      closing ??= close();
      return closing;
    },
  };
}
