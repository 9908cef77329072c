import { and, eq, isNull, lte, or } from 'drizzle-orm';
import type { Db } from '../store.js';

/** Ends an open turn that does not run, if it is the one that began at `position`: nothing is held out for it. */
export async function endOpenTurn(db: Db, sessionPk: number, position: number): Promise<void> {
  const { sessions } = db.tables;
  const idle = or(isNull(sessions.turn_owner), lte(sessions.turn_expires_at, db.nowMs));
  await db.orm
    .update(sessions)
    .set({ turn_position: null })
    .where(and(eq(sessions.pk, sessionPk), eq(sessions.turn_position, position), idle));
}
