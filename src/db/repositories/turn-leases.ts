import { and, eq, gt, isNull, lte, or, sql } from 'drizzle-orm';
import type { Db } from '../store.js';
import type { SessionRow } from '../tables.js';

/**
 * The lease of a session's turn: one turn at a time, across processes, on the store's clock. Beside it stands the
 * position of the message that the open turn began with, which outlives the lease: a turn that waits for results
 * or has failed is still open.
 */

/** Takes the lease of an open session if no turn runs on it; null when one does, or the session is closed or gone. */
export async function takeTurn(
  db: Db,
  sessionPk: number,
  owner: string,
  leaseMs: number,
): Promise<SessionRow | null> {
  const { sessions } = db.tables;
  const free = or(isNull(sessions.turn_owner), lte(sessions.turn_expires_at, db.nowMs));
  const [row] = await db.orm
    .update(sessions)
    .set({ turn_owner: owner, turn_expires_at: sql`${db.nowMs} + ${leaseMs}` })
    .where(and(eq(sessions.pk, sessionPk), eq(sessions.status, 'open'), free))
    .returning();
  return row ?? null;
}

/** Puts off the end of a turn's lease that is still held; false when it was lost, or the session is gone. */
export async function renewTurn(db: Db, sessionPk: number, owner: string, leaseMs: number): Promise<boolean> {
  const { sessions } = db.tables;
  const rows = await db.orm
    .update(sessions)
    .set({ turn_expires_at: sql`${db.nowMs} + ${leaseMs}` })
    .where(holdsTurn(db, sessionPk, owner))
    .returning({ pk: sessions.pk });
  return rows.length > 0;
}

/** The session, if this owner's turn still runs on it: the fence of everything that a turn writes. */
export async function sessionOfTurn(db: Db, sessionPk: number, owner: string): Promise<SessionRow | null> {
  const held = db.orm
    .select()
    .from(db.tables.sessions)
    .where(holdsTurn(db, sessionPk, owner));
  const [row] = await db.locked(held);
  return row ?? null;
}

/** Ends the lease; `position` is where the turn stays open, null when it is over. */
export async function leaveTurn(
  db: Db,
  sessionPk: number,
  owner: string,
  position: number | null,
): Promise<void> {
  const { sessions } = db.tables;
  await db.orm
    .update(sessions)
    .set({ turn_owner: null, turn_expires_at: null, turn_position: position })
    .where(and(eq(sessions.pk, sessionPk), eq(sessions.turn_owner, owner)));
}

/** Ms until the lease of the session's turn runs out; 0 or less when no turn runs. */
export async function turnRest(db: Db, sessionPk: number): Promise<number> {
  const { sessions } = db.tables;
  const [row] = await db.orm
    .select({ rest: sql<number>`coalesce(${sessions.turn_expires_at} - ${db.nowMs}, 0)` })
    .from(sessions)
    .where(eq(sessions.pk, sessionPk));
  return row?.rest ?? 0;
}

function holdsTurn(db: Db, sessionPk: number, owner: string) {
  const { sessions } = db.tables;
  return and(
    eq(sessions.pk, sessionPk),
    eq(sessions.turn_owner, owner),
    gt(sessions.turn_expires_at, db.nowMs),
  );
}

/** Marks where the turn that holds the session began. */
export async function openTurnAt(db: Db, sessionPk: number, owner: string, position: number): Promise<void> {
  const { sessions } = db.tables;
  await db.orm
    .update(sessions)
    .set({ turn_position: position })
    .where(and(eq(sessions.pk, sessionPk), eq(sessions.turn_owner, owner)));
}

/**
 * Ends an open turn that nobody runs, one that waits for results or has failed, if it is the one that began at
 * `position`: nothing is held out for it any more.
 */
export async function endOpenTurn(db: Db, sessionPk: number, position: number): Promise<void> {
  const { sessions } = db.tables;
  const idle = or(isNull(sessions.turn_owner), lte(sessions.turn_expires_at, db.nowMs));
  await db.orm
    .update(sessions)
    .set({ turn_position: null })
    .where(and(eq(sessions.pk, sessionPk), eq(sessions.turn_position, position), idle));
}
