import { and, eq, inArray, isNotNull, sql } from 'drizzle-orm';
import type { Db } from '../store.js';

/**
 * Closes sessions of subagents whose turn did not come to an end, with its lease.
 *
 * @param parents ids of the sessions that called them
 * @returns ids of what was closed
 */
export async function closeUnfinishedSubagents(
  db: Db,
  tenant: string,
  parents: readonly string[],
  nowMs: number,
): Promise<string[]> {
  const { sessions } = db.tables;
  const rows = await db.orm
    .update(sessions)
    .set({
      status: 'closed',
      closed_at: nowMs,
      updated_at: nowMs,
      version: sql`${sessions.version} + 1`,
      turn_owner: null,
      turn_expires_at: null,
      turn_position: null,
    })
    .where(
      and(
        eq(sessions.tenant, tenant),
        eq(sessions.kind, 'subagent'),
        eq(sessions.status, 'open'),
        isNotNull(sessions.turn_position),
        inArray(sessions.parent_session_id, [...parents]),
      ),
    )
    .returning({ id: sessions.id });
  return rows.map(({ id }) => id);
}
