import type { CopyTable, Row, Value } from './tables.js';

/**
 * One connection to a database of either dialect, for the copy alone. It speaks the SQL that both understand, with
 * `$1`, `$2` for parameters; what they say differently has a name here.
 */
export interface CopyConnection {
  /** Its URL without a password, for people. */
  readonly name: string;
  /** SQL of the database's clock in ms since the epoch, which leases are measured by. */
  readonly nowMs: string;
  query(sql: string, ...values: readonly Value[]): Promise<readonly Row[]>;
  /** Begins a transaction that only reads, on one state: that of its first query. */
  beginSnapshot(): Promise<void>;
  /** Begins a transaction that writes. */
  begin(): Promise<void>;
  commit(): Promise<void>;
  rollback(): Promise<void>;
  hasTable(name: string): Promise<boolean>;
  insert(table: CopyTable, rows: readonly Row[]): Promise<void>;
  /** The highest key that the table has given out, as far as it knows: that row may be gone. */
  highestKey(table: CopyTable): Promise<number>;
  /** Lets new rows have keys above this one, and above all that the table has given out itself. */
  keepKeysAbove(table: CopyTable, key: number): Promise<void>;
  /** Gathers what the database knows of its tables once they are full, so that its plans are good at once. */
  analyze(): Promise<void>;
  close(): Promise<void>;
}

/** The copy cannot be made as it was asked for; the message says why and what to do. Nothing was changed. */
export class CopyRefused extends Error {
  override readonly name = 'CopyRefused';
}

/** Runs `work` in a transaction that writes: all of it is done, or nothing. */
export async function inTransaction(target: CopyConnection, work: () => Promise<void>): Promise<void> {
  await target.begin();
  try {
    await work();
    await target.commit();
  } catch (error) {
    // Of a connection that is gone the server undoes it by itself.
    await target.rollback().catch(() => {});
    throw error;
  }
}
