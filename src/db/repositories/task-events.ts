import { and, asc, eq, gt, sql } from 'drizzle-orm';
import type { Db } from '../store.js';
import type { TaskEventRow, TaskRow } from '../tables.js';

/** What happened to tasks, as rows: each task's events are numbered from 0 without a gap. */

/** Stores an event of a task; nothing when the task is gone. */
export async function addTaskEvent(
  db: Db,
  taskPk: number,
  { type, data }: { readonly type: string; readonly data: object },
  nowMs: number,
): Promise<void> {
  const { tasks, task_events } = db.tables;
  const [task] = await db.orm
    .update(tasks)
    .set({ event_count: sql`${tasks.event_count} + 1` })
    .where(eq(tasks.pk, taskPk))
    .returning({ count: tasks.event_count });
  if (task === undefined) return;
  await db.orm.insert(task_events).values({
    task_pk: taskPk,
    seq: task.count - 1,
    type,
    data: JSON.stringify(data),
    created_at: nowMs,
  });
}

export type TaskEvent = Pick<TaskEventRow, 'seq' | 'type' | 'data'>;

/** Events with a `seq` above `after`, in order. */
export function taskEventsAfter(db: Db, taskPk: number, after: number, limit: number): Promise<TaskEvent[]> {
  const { task_events } = db.tables;
  const { seq, type, data } = task_events;
  return db.orm
    .select({ seq, type, data })
    .from(task_events)
    .where(and(eq(task_events.task_pk, taskPk), gt(seq, after)))
    .orderBy(asc(seq))
    .limit(limit);
}

/** How far a task is, in one read: its state, and how many events have led to it. Null when it is gone. */
export async function taskProgress(
  db: Db,
  taskPk: number,
): Promise<Pick<TaskRow, 'status' | 'event_count'> | null> {
  const { tasks } = db.tables;
  const { status, event_count } = tasks;
  const [row] = await db.orm.select({ status, event_count }).from(tasks).where(eq(tasks.pk, taskPk));
  return row ?? null;
}
