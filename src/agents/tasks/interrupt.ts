import { expiredTasks, type FoundTask } from '../../db/repositories/tasks.js';
import { leaveTurn } from '../../db/repositories/turn-leases.js';
import type { Store } from '../../db/store.js';
import { type Move, moveTask } from './move-task.js';

const DETAILS = {
  crash: 'The process that ran it stopped, or was paused for longer than its lease',
  shutdown: 'The service was shut down while it ran',
  lease: 'The lease ran out while it was at work',
} as const;

/** The change of a running task whose work stopped through no fault of its own; its time is `finished_at`. */
export function interruption(why: keyof typeof DETAILS) {
  const code = 'INTERRUPTED';
  const detail = DETAILS[why];
  return {
    to: 'interrupted',
    change: { error_code: code, error_detail: detail },
    tell: { error: { code, detail } },
  } as const satisfies Move;
}

/**
 * Marks the running tasks whose lease has run out as interrupted, whoever ran them: once each, since only a running
 * task becomes interrupted. Gives those that it marked.
 */
export async function interruptExpired(store: Store, clock: () => number): Promise<FoundTask[]> {
  if ((await expiredTasks(store.read)).length === 0) return [];
  return store.tx(async (db) => {
    const marked: FoundTask[] = [];
    for (const task of await expiredTasks(db)) {
      // The session's lease has run out as well; its turn stays open where it began.
      if (task.owner !== null) await leaveTurn(db, task.session_pk, task.owner, task.turn_position);
      if (await moveTask(db, task, interruption('crash'), clock())) marked.push(task);
    }
    return marked;
  });
}
