import { and, asc, eq, gt, gte, ne, sql } from 'drizzle-orm';
import { perDb } from '../per-db.js';
import type { Db } from '../store.js';

/** The facts a compaction plan asks for, each one index seek. */

const statements = perDb(({ orm, tables: { messages } }) => {
  const ofSession = eq(messages.session_pk, sql.placeholder('session'));
  return {
    crossing: orm
      .select({ position: messages.position })
      .from(messages)
      .where(and(ofSession, gte(messages.running_total, sql.placeholder('total'))))
      .orderBy(asc(messages.running_total), asc(messages.position))
      .limit(1)
      .prepare(),
    nextGroup: orm
      .select({ position: messages.position })
      .from(messages)
      .where(
        and(
          ofSession,
          gt(messages.seq, sql.placeholder('seq')),
          ne(messages.group_start, sql.placeholder('groupStart')),
        ),
      )
      .orderBy(asc(messages.seq))
      .limit(1)
      .prepare(),
  };
});

/** Position of the first message with which the session's running total of chars reaches `total`. */
export async function positionReaching(db: Db, sessionPk: number, total: number): Promise<number | null> {
  const [row] = await statements(db).crossing.execute({ session: sessionPk, total });
  return row?.position ?? null;
}

/** Position of the first message after `seq` that is not of the group that starts at `groupStart`. */
export async function positionAfterGroup(
  db: Db,
  sessionPk: number,
  seq: number,
  groupStart: number,
): Promise<number | null> {
  const [row] = await statements(db).nextGroup.execute({ session: sessionPk, seq, groupStart });
  return row?.position ?? null;
}
