import type { TaskStatus } from '../../db/repositories/tasks.js';
import type { TaskRow } from '../../db/tables.js';

/**
 * The states of tasks and the only ways between them; `docs/agents.md` has the same table. Every change of a state
 * is checked against it.
 */
export const TRANSITIONS: Readonly<Record<TaskStatus, readonly TaskStatus[]>> = {
  queued: ['running', 'cancelled'],
  running: ['waiting', 'completed', 'failed', 'cancelled', 'interrupted'],
  waiting: ['queued', 'cancelled'],
  failed: ['queued', 'cancelled'],
  interrupted: ['queued', 'cancelled'],
  completed: [],
  cancelled: [],
};

export const TASK_STATES = [
  'queued',
  'running',
  'waiting',
  'completed',
  'failed',
  'cancelled',
  'interrupted',
] as const satisfies readonly TaskStatus[];

/** Whether nothing more happens to a task by itself, nor by results that somebody owes it. */
export function isAtRest(status: TaskStatus): boolean {
  return status === 'completed' || status === 'failed' || status === 'cancelled' || status === 'interrupted';
}

/** Whether a task has come to its end for good. A tick has, however it ended: it is never resumed. */
export function isOver({ kind, status }: Pick<TaskRow, 'kind' | 'status'>): boolean {
  return kind === 'tick' ? isAtRest(status) : TRANSITIONS[status].length === 0;
}
