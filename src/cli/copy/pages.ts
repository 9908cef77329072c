import { type CopyConnection, CopyRefused } from './connection.js';
import { type CopyTable, columnList, type Row } from './tables.js';

/** What a page holds at most, so that memory does not grow with the database; one row is always taken. */
export interface PageLimits {
  readonly rows: number;
  /** UTF-8 bytes of the texts. */
  readonly bytes: number;
}

export const PAGE_LIMITS: PageLimits = { rows: 2_000, bytes: 2_000_000 };

export interface Page {
  /** At least one. */
  readonly rows: readonly Row[];
  /** Key of the last one. */
  readonly lastKey: number;
}

/** Which rows, by their keys. */
export interface KeyRange {
  readonly after: number;
  readonly through: number;
}

/**
 * The rows of a table in the order of their keys. The next page is asked for before one is given out: one database
 * reads while the other writes.
 */
export async function* pages(
  connection: CopyConnection,
  table: CopyTable,
  { after, through }: KeyRange,
  limits: PageLimits,
): AsyncGenerator<Page, void, undefined> {
  const sql = pageQuery(table);
  const read = (from: number) => {
    const page = connection.query(sql, from, through, limits.rows, limits.bytes);
    // Whoever awaits it is told; nobody may, when the writing fails first.
    page.catch(() => {});
    return page;
  };
  for (let next = read(after); ; ) {
    const rows = await next;
    const last = rows.at(-1);
    if (last === undefined) return;
    const lastKey = Number(last[0]);
    next = read(lastKey);
    for (const row of rows) check(table, row);
    yield { rows, lastKey };
  }
}

/** Sizes come first and texts after, in one statement: a page of long texts is never read to be thrown away. */
function pageQuery(table: CopyTable): string {
  const sizes = table.columns
    .filter(({ kind }) => kind === 'text')
    .map(({ name }) => `coalesce(octet_length("${name}"), 0)`);
  return `
    WITH sized AS (
      SELECT pk, ${sizes.join(' + ')} AS size FROM ${table.name}
      WHERE pk > $1 AND pk <= $2 ORDER BY pk LIMIT $3
    ), summed AS (
      SELECT pk, sum(size) OVER (ORDER BY pk ROWS UNBOUNDED PRECEDING) AS through FROM sized
    )
    SELECT ${columnList(table)} FROM ${table.name}
    WHERE pk > $1 AND pk <= (SELECT coalesce(max(CASE WHEN through <= $4 THEN pk END), min(pk)) FROM summed)
    ORDER BY pk`;
}

/** SQLite stores anything anywhere; what the schema does not mean would arrive as something else, or not at all. */
function check(table: CopyTable, row: Row): void {
  for (const [index, { name, kind }] of table.columns.entries()) {
    const value = row[index];
    if (value === null) continue;
    if (kind === 'text' ? typeof value === 'string' : typeof value === 'number') {
      if (kind !== 'integer' || Number.isSafeInteger(value)) continue;
    }
    throw new CopyRefused(
      `The row of ${table.name} with key ${row[0]} holds in ${name} what is not ${kind}, or too large a number`,
    );
  }
}
