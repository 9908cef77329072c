import { findSessionByPk } from '../../db/repositories/sessions.js';
import { claimableTasks, type FoundTask } from '../../db/repositories/tasks.js';
import type { Db } from '../../db/store.js';
import { outstandingCalls } from '../turn/outstanding-calls.js';
import { resumeInputOf } from './task-fields.js';

const LOOKED_AT = 100;

/**
 * The oldest queued task that may begin. One that brings results to a session which ends with other calls that wait,
 * of another task or of a chat, stays in the queue: its results would be taken for results of those.
 */
export async function nextTask(db: Db): Promise<FoundTask | null> {
  for (const task of await claimableTasks(db, LOOKED_AT)) {
    const brought = resumeInputOf(task);
    if (brought === null || brought.message !== null) return task;
    const session = await findSessionByPk(db, task.session_pk);
    const group = session === null ? null : await outstandingCalls(db, session);
    if (group === null || group.position === task.wait_position) return task;
  }
  return null;
}
