import { renameSync, rmSync } from 'node:fs';
import Database from 'better-sqlite3';
import type { Connection } from './connection.js';

/**
 * Copies the database, as it was last committed, to a file beside it: `<file>.before-<n>`, n being the number of the
 * migration that comes next. For a caller that holds the write lock, so that nothing is written after the copy. A
 * copy under the name from an earlier try is replaced: the database has gone on since.
 */
export function backUp(connection: Connection, tag: string): void {
  const number = Number.parseInt(tag, 10) + 1;
  const target = `${connection.name}.before-${number}`;
  const unfinished = `${target}.unfinished`;
  rmSync(unfinished, { force: true });
  // A connection of its own: VACUUM cannot run within a transaction.
  const reader = new Database(connection.name, { readonly: true });
  try {
    reader.prepare('VACUUM INTO ?').run(unfinished);
  } finally {
    reader.close();
  }
  renameSync(unfinished, target);
}
