import { type FoundTask, findTaskByPk } from '../../db/repositories/tasks.js';
import type { Db } from '../../db/store.js';
import { AppError } from '../../errors.js';

/** The task, if it still runs for this owner: the fence of everything that a run writes to it. */
export async function ownTask(db: Db, pk: number, owner: string): Promise<FoundTask | null> {
  const task = await findTaskByPk(db, pk);
  return task !== null && task.status === 'running' && task.owner === owner ? task : null;
}

/** What a run must end with when its task is no longer its own. */
export async function whyNotOwn(db: Db, pk: number): Promise<AppError> {
  const task = await findTaskByPk(db, pk);
  if (task === null) return new AppError('SESSION_NOT_FOUND', 'The session was deleted');
  return task.status === 'cancelled' ? taskCancelled() : leaseLost();
}

export const taskCancelled = () => new AppError('REQUEST_CANCELLED', 'The task was cancelled');

export const leaseLost = () =>
  new AppError('SESSION_CHANGED', 'The lease of the task ran out while it was at work');
