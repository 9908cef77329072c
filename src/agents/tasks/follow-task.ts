import { type TaskEvent, taskEventsAfter, taskProgress } from '../../db/repositories/task-events.js';
import type { Store } from '../../db/store.js';
import { AppError } from '../../errors.js';
import { isAtRest } from './states.js';
import type { TaskSignals } from './task-signals.js';

/** Longest time until an event of another process is seen, in ms. */
const POLL_MS = 500;
const BATCH = 200;

/**
 * The events of a task above `after`: those that are stored, then each as it comes, until the task rests or the
 * signal fires. A nudge may come between the read and the wait, which then lasts until the next poll at most.
 *
 * @throws AppError TASK_NOT_FOUND when the task is deleted meanwhile
 */
export async function* followTask(
  store: Store,
  signals: TaskSignals,
  taskPk: number,
  after: number,
  signal: AbortSignal,
): AsyncGenerator<TaskEvent> {
  let seen = after;
  while (!signal.aborted) {
    const progress = await taskProgress(store.read, taskPk);
    if (progress === null) throw new AppError('TASK_NOT_FOUND', 'The task was deleted with its session');
    // Events are numbered from 0: when those up to the state's own are told, its state is told.
    while (seen < progress.event_count - 1 && !signal.aborted) {
      const events = await taskEventsAfter(store.read, taskPk, seen, BATCH);
      if (events.length === 0) break;
      for (const event of events) {
        yield event;
        seen = event.seq;
      }
    }
    if (isAtRest(progress.status) && seen >= progress.event_count - 1) return;
    await signals.wait(taskPk, POLL_MS, signal);
  }
}
