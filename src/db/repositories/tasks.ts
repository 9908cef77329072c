import { and, asc, eq, sql } from 'drizzle-orm';
import type { Db } from '../store.js';
import type { TaskRow } from '../tables.js';

/** Tasks as rows. Ids are resolved within a tenant; everything else goes by the internal key. */

/** The task that waits for results of the tool group at `position`; null when none does. */
export async function holdingTask(db: Db, sessionPk: number, position: number): Promise<TaskRow | null> {
  const { tasks } = db.tables;
  const [row] = await db.orm
    .select()
    .from(tasks)
    .where(
      and(eq(tasks.session_pk, sessionPk), eq(tasks.status, 'waiting'), eq(tasks.wait_position, position)),
    );
  return row ?? null;
}

/** The lowest position that a waiting task of the session holds out of compactions; null without one. */
export async function lowestHold(db: Db, sessionPk: number): Promise<number | null> {
  const { tasks } = db.tables;
  const [row] = await db.orm
    .select({ position: tasks.wait_position })
    .from(tasks)
    .where(
      and(
        eq(tasks.session_pk, sessionPk),
        eq(tasks.status, 'waiting'),
        sql`${tasks.wait_position} IS NOT NULL`,
      ),
    )
    .orderBy(asc(tasks.wait_position))
    .limit(1);
  return row?.position ?? null;
}
