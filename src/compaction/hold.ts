import { lowestHold } from '../db/repositories/tasks.js';
import type { Db } from '../db/store.js';
import type { SessionRow } from '../db/tables.js';
import type { PlanInput } from './plan.js';

/**
 * What stays out of every compaction of a session for now: everything from the message of an open turn on, since
 * its model calls need it as it is, and everything from the tool group that a waiting task waits on, since its
 * results are still to come. Read in the transaction that plans.
 */
export async function holdOf(db: Db, session: SessionRow): Promise<PlanInput['holdFrom']> {
  const waiting = await lowestHold(db, session.pk);
  const turn = session.turn_position;
  if (turn !== null && (waiting === null || turn <= waiting)) return { position: turn, reason: 'turn_open' };
  return waiting === null ? null : { position: waiting, reason: 'pending_tool_calls' };
}
