import { findSessionByPk } from '../../db/repositories/sessions.js';
import { claimableTasks, type FoundTask } from '../../db/repositories/tasks.js';
import type { Db } from '../../db/store.js';
import { outstandingCalls } from '../turn/outstanding-calls.js';
import { resumeInputOf } from './task-fields.js';

/** Tasks read at once. */
const PAGE = 100;

/**
 * The oldest queued task that may begin. One that brings results to a session which ends with other calls that wait,
 * of another task or of a chat, stays in the queue: its results would be taken for results of those.
 */
export async function nextTask(db: Db): Promise<FoundTask | null> {
  // What a session ends with holds for all its tasks, and there may be many.
  const ends = new Map<number, number | null>();
  for (let after = 0; ; ) {
    const page = await claimableTasks(db, after, PAGE);
    for (const task of page) if (await mayBegin(db, task, ends)) return task;
    const last = page.at(-1);
    if (last === undefined || page.length < PAGE) return null;
    after = last.pk;
  }
}

async function mayBegin(db: Db, task: FoundTask, ends: Map<number, number | null>): Promise<boolean> {
  const brought = resumeInputOf(task);
  if (brought === null || brought.message !== null) return true;
  const { session_pk: pk, wait_position: position } = task;
  let end = ends.get(pk);
  if (end === undefined) {
    const session = await findSessionByPk(db, pk);
    end = session === null ? null : ((await outstandingCalls(db, session))?.position ?? null);
    ends.set(pk, end);
  }
  return end === null || end === position;
}
