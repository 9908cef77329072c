import { and, asc, eq, gte, isNotNull, lte, or, sql } from 'drizzle-orm';
import { perDb } from '../per-db.js';
import type { Db } from '../store.js';

/**
 * Reading long runs of messages in pages small enough that one read never holds the event loop for long.
 * Callers yield between pages.
 */

export const PAGE_MAX_ROWS = 256;
export const PAGE_MAX_BYTES = 1024 * 1024;

const statements = perDb((db) => {
  const { orm, tables } = db;
  const { messages } = tables;
  const ofSession = eq(messages.session_pk, sql.placeholder('session'));
  const range = and(
    ofSession,
    gte(messages.seq, sql.placeholder('from')),
    lte(messages.seq, sql.placeholder('to')),
  );
  // 1 takes system messages as well, 0 leaves them out.
  const wanted = and(range, or(sql`${sql.placeholder('system')} = 1`, isNotNull(messages.position)));
  const run = orm
    .select({
      seq: messages.seq,
      body: messages.body,
      chars: messages.chars,
      text_bytes: messages.text_bytes,
    })
    .from(messages)
    .where(wanted)
    .orderBy(asc(messages.seq))
    .limit(PAGE_MAX_ROWS)
    .as('run');
  const extent = orm
    .select({ seq: messages.seq, bytes: db.byteLength(messages.body).as('bytes') })
    .from(messages)
    .where(range)
    .orderBy(asc(messages.seq))
    .limit(PAGE_MAX_ROWS)
    .as('extent');
  return {
    extent: orm
      .select({
        to: sql<number | null>`max(${extent.seq})`,
        count: sql<number>`count(*)`,
        bytes: sql<number>`coalesce(sum(${extent.bytes}), 0)`,
      })
      .from(extent)
      .prepare(),
    sizes: orm
      .select({ seq: messages.seq, bytes: db.byteLength(messages.body) })
      .from(messages)
      .where(range)
      .orderBy(asc(messages.seq))
      .limit(PAGE_MAX_ROWS)
      .prepare(),
    joined: orm
      .select({
        json: db.joinedUtf8(run.body, run.seq),
        count: sql<number>`count(*)`,
        chars: sql<number>`coalesce(sum(${run.chars}), 0)`,
        textBytes: sql<number>`coalesce(sum(${run.text_bytes}), 0)`,
      })
      .from(run)
      .prepare(),
  };
});

export interface PageBounds {
  /** Last `seq` of the page, inclusive. */
  readonly to: number;
  /** True when a limit ended the page, false when the range did. */
  readonly full: boolean;
}

/** The page that begins at `seq` `from` and ends at `last` or at a limit; null when there is no message. */
export async function pageFrom(
  db: Db,
  sessionPk: number,
  from: number,
  last: number,
): Promise<PageBounds | null> {
  // One row says where most pages end; the sizes of single messages are read only when there are large ones.
  const [extent] = await statements(db).extent.execute({ session: sessionPk, from, to: last });
  if (extent === undefined || extent.to === null) return null;
  if (extent.bytes <= PAGE_MAX_BYTES) return { to: extent.to, full: extent.count === PAGE_MAX_ROWS };
  const sizes = await statements(db).sizes.execute({ session: sessionPk, from, to: last });
  let bytes = 0;
  let to: number | null = null;
  for (const row of sizes) {
    bytes += row.bytes;
    if (to !== null && bytes > PAGE_MAX_BYTES) return { to, full: true };
    to = row.seq;
  }
  return to === null ? null : { to, full: sizes.length === PAGE_MAX_ROWS };
}

/** The messages of one page as they travel: JSON texts joined by commas, with what they add up to. */
export interface JoinedPage {
  readonly json: Buffer;
  readonly count: number;
  readonly chars: number;
  readonly textBytes: number;
}

export async function readJoinedPage(
  db: Db,
  sessionPk: number,
  from: number,
  to: number,
  withSystem: boolean,
): Promise<JoinedPage> {
  const [row] = await statements(db).joined.execute({
    session: sessionPk,
    from,
    to,
    system: withSystem ? 1 : 0,
  });
  if (row === undefined || row.json === null)
    return { json: Buffer.alloc(0), count: 0, chars: 0, textBytes: 0 };
  return { json: row.json, count: row.count, chars: row.chars, textBytes: row.textBytes };
}
