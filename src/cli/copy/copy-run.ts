import type { CopyConnection } from './connection.js';
import type { RunningDigest } from './digest.js';
import { type KeyRange, PAGE_LIMITS, type PageLimits, pages } from './pages.js';
import type { CopyTable } from './tables.js';

/** How far the copy is, for whoever watches it. */
export interface CopyProgress {
  phase: 'Counting' | 'Comparing' | 'Copying' | 'Verifying' | 'Analyzing';
  table: string;
  rows: number;
  totalRows: number;
  /** Of what has gone through in this phase, as it is hashed. */
  bytes: number;
}

export interface CopyRun {
  readonly source: CopyConnection;
  readonly target: CopyConnection;
  /** Kept up to date as the copy goes on. */
  readonly progress: CopyProgress;
  /** Ends the copy after the page that is being written; throws its reason. */
  readonly signal: AbortSignal;
  /** Whether work under way on the source is no reason to refuse. */
  readonly force: boolean;
  readonly limits?: PageLimits;
}

export function newProgress(): CopyProgress {
  return { phase: 'Counting', table: '', rows: 0, totalRows: 0, bytes: 0 };
}

/** Above every key. */
export const END = Number.MAX_SAFE_INTEGER;

/** Reads the rows of a range on one side of the copy, for their digest alone. */
export async function digestRows(
  { progress, signal, limits = PAGE_LIMITS }: CopyRun,
  connection: CopyConnection,
  table: CopyTable,
  range: KeyRange,
  digest: RunningDigest,
): Promise<void> {
  progress.table = table.name;
  for await (const { rows } of pages(connection, table, range, limits)) {
    signal.throwIfAborted();
    progress.bytes += digest.add(rows);
    progress.rows += rows.length;
  }
}
