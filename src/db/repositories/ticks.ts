import { and, asc, eq, isNotNull, lte, sql } from 'drizzle-orm';
import type { Db } from '../store.js';
import type { AgentRow } from '../tables.js';

/** When the scheduled ticks of agents are due, by the store's clock. */

export type DueAgent = Pick<AgentRow, 'pk' | 'tenant' | 'name' | 'tick_due_at'>;

/** Agents whose tick is due, the one that is due longest first. */
export function dueAgents(db: Db, limit: number): Promise<DueAgent[]> {
  const { agents } = db.tables;
  const { pk, tenant, name, tick_due_at } = agents;
  return db.orm
    .select({ pk, tenant, name, tick_due_at })
    .from(agents)
    .where(and(isNotNull(tick_due_at), lte(tick_due_at, db.nowMs)))
    .orderBy(asc(tick_due_at))
    .limit(limit);
}

/**
 * Takes a due tick by moving the schedule on; false when another process has, or the schedule was changed.
 *
 * @param inMs ms from now to the tick after this one; null ends the schedule
 */
export async function takeDueTick(db: Db, due: DueAgent, inMs: number | null): Promise<boolean> {
  const { agents } = db.tables;
  const seen = due.tick_due_at;
  if (seen === null) return false;
  const rows = await db.orm
    .update(agents)
    .set({ tick_due_at: inMs === null ? null : sql`${db.nowMs} + ${inMs}` })
    .where(and(eq(agents.pk, due.pk), eq(agents.tick_due_at, seen)))
    .returning({ pk: agents.pk });
  return rows.length > 0;
}

/** Keeps others from beginning a tick of the agent until the end of the transaction. */
export async function lockTicks(db: Db, tenant: string, name: string): Promise<void> {
  const { agents } = db.tables;
  await db.orm
    .update(agents)
    .set({ tick_due_at: sql`${agents.tick_due_at}` })
    .where(and(eq(agents.tenant, tenant), eq(agents.name, name)));
}
