import { and, eq, gt, isNull, lte, or, sql } from 'drizzle-orm';
import type { Db } from '../store.js';
import type { SessionRow } from '../tables.js';

/**
 * The lease of a session's compaction: one owner at a time, across processes, on the store's clock. A dead
 * owner's lease runs out by itself, so that a crash blocks nobody for longer than the lease.
 */

/** Takes the lease of an open session if it is free; null when it is not, or the session is closed or gone. */
export async function takeLease(
  db: Db,
  sessionPk: number,
  owner: string,
  leaseMs: number,
): Promise<SessionRow | null> {
  const { sessions } = db.tables;
  const free = or(isNull(sessions.lease_owner), lte(sessions.lease_expires_at, db.nowMs));
  const [row] = await db.orm
    .update(sessions)
    .set({ lease_owner: owner, lease_expires_at: sql`${db.nowMs} + ${leaseMs}` })
    .where(and(eq(sessions.pk, sessionPk), eq(sessions.status, 'open'), free))
    .returning();
  return row ?? null;
}

/** Puts off the end of a lease that is still held; false when it was lost. */
export async function renewLease(
  db: Db,
  sessionPk: number,
  owner: string,
  leaseMs: number,
): Promise<boolean> {
  const { sessions } = db.tables;
  const rows = await db.orm
    .update(sessions)
    .set({ lease_expires_at: sql`${db.nowMs} + ${leaseMs}` })
    .where(holds(db, sessionPk, owner))
    .returning({ pk: sessions.pk });
  return rows.length > 0;
}

export async function releaseLease(db: Db, sessionPk: number, owner: string): Promise<void> {
  const { sessions } = db.tables;
  await db.orm
    .update(sessions)
    .set({ lease_owner: null, lease_expires_at: null })
    .where(and(eq(sessions.pk, sessionPk), eq(sessions.lease_owner, owner)));
}

/** Ms until the session's lease runs out; 0 or less when it is free. */
export async function leaseRest(db: Db, sessionPk: number): Promise<number> {
  const { sessions } = db.tables;
  const [row] = await db.orm
    .select({ rest: sql<number>`coalesce(${sessions.lease_expires_at} - ${db.nowMs}, 0)` })
    .from(sessions)
    .where(eq(sessions.pk, sessionPk));
  return row?.rest ?? 0;
}

/** The token that holds the session's lease now; null when it is free or has run out. */
export async function leaseOwner(db: Db, sessionPk: number): Promise<string | null> {
  const { sessions } = db.tables;
  const [row] = await db.orm
    .select({ owner: sessions.lease_owner })
    .from(sessions)
    .where(and(eq(sessions.pk, sessionPk), gt(sessions.lease_expires_at, db.nowMs)));
  return row?.owner ?? null;
}

/** The condition that `owner` holds the lease now. */
export function holds(db: Db, sessionPk: number, owner: string) {
  const { sessions } = db.tables;
  return and(
    eq(sessions.pk, sessionPk),
    eq(sessions.lease_owner, owner),
    gt(sessions.lease_expires_at, db.nowMs),
  );
}
