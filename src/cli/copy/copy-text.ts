import { count, counted, megabytes } from '../number-text.js';
import { shareText } from '../progress-bar.js';
import { tableLines } from '../table.js';
import type { CopyResult } from './copy-database.js';
import type { CopyProgress } from './copy-run.js';
import { isSame } from './digest.js';

/** Digits of a hash that are shown: enough to see a difference. */
const HASH_DIGITS = 16;

/** `[####----]  50%  Copying messages  100,000 of 200,000 rows  34.2 MB` */
export function copyProgressText(progress: CopyProgress, bar: boolean): string {
  const { phase, table, rows, totalRows, bytes } = progress;
  if (phase === 'Counting' || phase === 'Analyzing') return phase;
  const share = totalRows === 0 ? 1 : Math.min(1, rows / totalRows);
  const done = `${count(rows)} of ${counted(totalRows, 'row')}`;
  return `${shareText(share, bar)}  ${phase} ${table}  ${done}  ${megabytes(bytes)}`;
}

/** A line for each table, with both of its sides. */
export function verificationLines({ tables }: CopyResult): string[] {
  return tableLines(
    ['table', 'rows', 'copied', 'SHA-256', 'of the copy', ''],
    tables.map(({ name, source, target }) => [
      name,
      count(source.rows),
      count(target.rows),
      source.sha256.slice(0, HASH_DIGITS),
      target.sha256.slice(0, HASH_DIGITS),
      isSame(source, target) ? 'same' : 'DIFFERENT',
    ]),
  );
}
