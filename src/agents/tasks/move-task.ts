import { changeSession } from '../../db/repositories/sessions.js';
import { addTaskEvent } from '../../db/repositories/task-events.js';
import { changeTask, type FoundTask, type TaskChange, type TaskStatus } from '../../db/repositories/tasks.js';
import type { Db } from '../../db/store.js';
import { isAtRest, TRANSITIONS } from './states.js';

/** What goes with a change of state. */
export interface Move {
  readonly to: TaskStatus;
  /** Other columns that change with it. */
  readonly change?: TaskChange;
  /** What the event tells beside the new state. */
  readonly tell?: object;
}

/**
 * Brings a task into another state, and stores that as an event, in the transaction it is called in. The session
 * of a tick is closed with its tick, however that ends. False when the task is no longer as it was read.
 */
export async function moveTask(
  db: Db,
  task: FoundTask,
  { to, change = {}, tell = {} }: Move,
  nowMs: number,
): Promise<boolean> {
  if (!TRANSITIONS[task.status].includes(to)) throw new Error(`no task goes from ${task.status} to ${to}`);
  const rests = isAtRest(to);
  const lease = to === 'running' ? {} : { owner: null, lease_expires_at: null };
  const times = { updated_at: nowMs, finished_at: rests ? nowMs : null };
  if (!(await changeTask(db, task, { ...lease, ...change, ...times, status: to }))) return false;
  await addTaskEvent(db, task.pk, { type: `task-${to}`, data: { status: to, ...tell } }, nowMs);
  if (rests && task.kind === 'tick') {
    await changeSession(db, task.session_pk, { status: 'closed', closed_at: nowMs }, nowMs);
  }
  return true;
}
