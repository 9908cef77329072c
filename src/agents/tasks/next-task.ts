import { findSessionByPk } from '../../db/repositories/sessions.js';
import { claimableTasks, type FoundTask } from '../../db/repositories/tasks.js';
import type { Db } from '../../db/store.js';
import { outstandingCalls } from '../turn/outstanding-calls.js';
import { resumeInputOf } from './task-fields.js';

/** Tasks read at once. */
const PAGE = 50;

/** What sessions end with, by their keys: it holds for all tasks of a session, and there may be many. */
type Ends = Map<number, number | null>;

/** The queued tasks that may begin, oldest first, by what is committed when they are read. */
export async function* nextTasks(db: Db): AsyncGenerator<FoundTask> {
  const ends: Ends = new Map();
  for (let after = 0; ; ) {
    const page = await claimableTasks(db, after, PAGE);
    for (const task of page) if (await mayBegin(db, task, ends)) yield task;
    const last = page.at(-1);
    if (last === undefined || page.length < PAGE) return;
    after = last.pk;
  }
}

/**
 * Whether a queued task on whose session no turn runs may begin. One that brings results to a session which ends
 * with other calls that wait, of another task or of a chat, stays in the queue: its results would be taken for
 * results of those.
 */
export async function mayBegin(db: Db, task: FoundTask, ends: Ends = new Map()): Promise<boolean> {
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
