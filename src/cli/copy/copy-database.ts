import { compareBeginnings, copiedRows } from './beginnings.js';
import { CopyRefused, inTransaction } from './connection.js';
import { type CopyRun, digestRows, END } from './copy-run.js';
import { type Digest, isSame, RunningDigest } from './digest.js';
import { workUnderWay } from './leases.js';
import { moveMarker, openMarker, removeMarker } from './marker.js';
import { PAGE_LIMITS, pages } from './pages.js';
import { COPY_TABLES, type CopyTable } from './tables.js';

export interface CopiedTable {
  readonly name: string;
  readonly source: Digest;
  readonly target: Digest;
}

export interface CopyResult {
  readonly tables: readonly CopiedTable[];
  /** Rows that were there from earlier runs. */
  readonly resumedRows: number;
  /** Tables of the source that have got or lost rows since the state that was copied. */
  readonly changed: readonly string[];
  /** Why the target could not be analyzed; null when it was, or is not the same. */
  readonly analyzeError: unknown;
}

/**
 * Copies all rows of one state of the source, keys included, into an empty target or one that holds the beginning of
 * this very copy; then reads them back. The marker stays when the two are not the same.
 */
export async function copyDatabase(run: CopyRun): Promise<CopyResult> {
  const { source, target, force } = run;
  await source.beginSnapshot();
  const work = force ? [] : await workUnderWay(source);
  if (work.length > 0) {
    throw new CopyRefused(
      `A service is at work on ${source.name}: ${work.join(', ')}. Stop it first; or copy with --force what is there ` +
        'at this moment, in which that work is half done.',
    );
  }
  const counts = await countRows(run);
  const copied = await openMarker(target, source.name);
  const digests = await compareBeginnings(run, copied);
  await keepKeys(run);
  for (const table of COPY_TABLES) {
    const { name } = table;
    const digest = digests.get(name) ?? new RunningDigest();
    await copyTable(run, table, copied.get(name)?.key ?? 0, digest);
    const { rows } = digest.now();
    if (rows !== counts.get(name)) throw new Error(`${name}: ${rows} of ${counts.get(name)} rows have a key`);
  }
  await source.commit();
  const tables = await verify(run, digests);
  const good = tables.every((table) => isSame(table.source, table.target));
  if (good) await removeMarker(target);
  return {
    tables,
    resumedRows: copiedRows(copied),
    changed: await changedTables(run, counts),
    analyzeError: good ? await analyze(run) : null,
  };
}

async function countRows({ source, progress }: CopyRun): Promise<Map<string, number>> {
  const counts = new Map<string, number>();
  for (const { name } of COPY_TABLES) {
    const [row] = await source.query(`SELECT count(*) FROM ${name}`);
    counts.set(name, Number(row?.[0]));
    progress.totalRows += Number(row?.[0]);
  }
  return counts;
}

/**
 * New rows of the target get keys above all that the source has given out, also to rows that are deleted: other rows
 * name them by their keys. Before the first row, so that it is true of a copy that never ends, too.
 */
async function keepKeys({ source, target }: CopyRun): Promise<void> {
  for (const table of COPY_TABLES) {
    const [row] = await source.query(`SELECT max(pk) FROM ${table.name}`);
    const highest = Math.max(Number(row?.[0] ?? 0), await source.highestKey(table));
    await inTransaction(target, () => target.keepKeysAbove(table, highest));
  }
}

async function copyTable(
  run: CopyRun,
  table: CopyTable,
  after: number,
  digest: RunningDigest,
): Promise<void> {
  const { source, target, progress, signal, limits = PAGE_LIMITS } = run;
  Object.assign(progress, { phase: 'Copying', table: table.name });
  let from = after;
  for await (const { rows, lastKey } of pages(source, table, { after, through: END }, limits)) {
    signal.throwIfAborted();
    const bytes = digest.add(rows);
    await inTransaction(target, async () => {
      await moveMarker(target, table, { from, to: lastKey, digest: digest.now() });
      await target.insert(table, rows);
    });
    from = lastKey;
    progress.rows += rows.length;
    progress.bytes += bytes;
  }
}

/** Reads the target back, beside what was read from the source. */
async function verify(run: CopyRun, digests: ReadonlyMap<string, RunningDigest>): Promise<CopiedTable[]> {
  const { target, progress } = run;
  Object.assign(progress, { phase: 'Verifying', rows: 0, bytes: 0 });
  const tables: CopiedTable[] = [];
  await target.beginSnapshot();
  for (const table of COPY_TABLES) {
    const digest = new RunningDigest();
    await digestRows(run, target, table, { after: 0, through: END }, digest);
    const { name } = table;
    tables.push({ name, source: (digests.get(name) ?? new RunningDigest()).now(), target: digest.now() });
  }
  await target.commit();
  return tables;
}

/** On a state that is newer than the one that was copied. */
async function changedTables({ source }: CopyRun, counts: ReadonlyMap<string, number>): Promise<string[]> {
  const changed: string[] = [];
  for (const { name } of COPY_TABLES) {
    const [row] = await source.query(`SELECT count(*) FROM ${name}`);
    if (Number(row?.[0]) !== counts.get(name)) changed.push(name);
  }
  return changed;
}

/** The copy is whole without it; the database does the same by itself some time later. */
async function analyze({ target, progress }: CopyRun): Promise<unknown> {
  progress.phase = 'Analyzing';
  try {
    await target.analyze();
    return null;
  } catch (error) {
    return error;
  }
}
