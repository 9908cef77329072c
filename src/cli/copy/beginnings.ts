import { CopyRefused } from './connection.js';
import { type CopyRun, digestRows } from './copy-run.js';
import { isSame, RunningDigest } from './digest.js';
import type { Copied } from './marker.js';
import { COPY_TABLES } from './tables.js';

/**
 * Digests what is copied already, from the source: a copy goes on only if its source still begins with the rows that
 * the target has. That, and not a name, is what makes it the same source. The digests go on with the rest.
 */
export async function compareBeginnings(
  run: CopyRun,
  copied: ReadonlyMap<string, Copied>,
): Promise<Map<string, RunningDigest>> {
  const { source, target, progress } = run;
  const digests = new Map<string, RunningDigest>();
  const totalRows = progress.totalRows;
  Object.assign(progress, { phase: 'Comparing', totalRows: copiedRows(copied) });
  for (const table of COPY_TABLES) {
    const digest = new RunningDigest();
    digests.set(table.name, digest);
    const before = copied.get(table.name);
    if (before === undefined || before.rows === 0) continue;
    await digestRows(run, source, table, { after: 0, through: before.key }, digest);
    if (isSame(before, digest.now())) continue;
    throw new CopyRefused(
      `${target.name} holds the beginning of a copy of ${before.source}, and ${source.name} has other rows in ` +
        `${table.name}: it is another database, or it has changed since. Start anew with an empty database.`,
    );
  }
  Object.assign(progress, { totalRows, bytes: 0 });
  return digests;
}

/** Rows that the target has from earlier runs. */
export function copiedRows(copied: ReadonlyMap<string, Copied>): number {
  return [...copied.values()].reduce((sum, { rows }) => sum + rows, 0);
}
