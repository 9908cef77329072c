import { tasksOfSession } from '../../db/repositories/tasks.js';
import type { Db } from '../../db/store.js';
import { moveTask } from './move-task.js';
import { isOver } from './states.js';

/**
 * Ends the tasks whose messages go with a reset of their session, in its transaction: what they wait for or would go
 * on from is gone. A task whose input is not stored yet stays in the queue. No task of the session runs.
 */
export async function cancelForReset(db: Db, sessionPk: number, nowMs: number): Promise<void> {
  for (const task of await tasksOfSession(db, sessionPk)) {
    if (task.turn_position === null || isOver(task)) continue;
    const detail = 'Its session was reset';
    const change = {
      resume_input: null,
      wait_position: null,
      wait_calls: null,
      error_code: 'SESSION_CHANGED',
      error_detail: detail,
    };
    const tell = { error: { code: 'SESSION_CHANGED', detail } };
    await moveTask(db, task, { to: 'cancelled', change, tell }, nowMs);
  }
}
