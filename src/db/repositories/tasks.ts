import { and, asc, desc, eq, getTableColumns, gt, inArray, isNull, lt, lte, or, sql } from 'drizzle-orm';
import type { Db } from '../store.js';
import type { Tables, TaskRow } from '../tables.js';

/**
 * Tasks as rows. Ids are resolved within a tenant; everything else goes by the internal key. A single task that a
 * transaction reads is locked until its end, after its session: as in every transaction that has to do with both.
 */

export type TaskStatus = TaskRow['status'];
export type NewTask = Tables['tasks']['$inferInsert'];

/** A task with the id of its session, as clients name it. */
export interface FoundTask extends TaskRow {
  readonly session_id: string;
}

/** What may change of a task; its place among others, its agent and its input never do. */
export type TaskChange = Partial<
  Omit<TaskRow, 'pk' | 'tenant' | 'id' | 'session_pk' | 'agent' | 'kind' | 'input' | 'event_count'>
>;

export async function findTask(db: Db, tenant: string, id: string): Promise<FoundTask | null> {
  const { tasks } = db.tables;
  const [row] = await db.locked(withSession(db).where(and(eq(tasks.tenant, tenant), eq(tasks.id, id))));
  return row ?? null;
}

export async function findTaskByPk(db: Db, pk: number): Promise<FoundTask | null> {
  const [row] = await db.locked(withSession(db).where(eq(db.tables.tasks.pk, pk)));
  return row ?? null;
}

/** As `findTaskByPk`, but null also while another transaction holds the task or its session. */
export async function findTaskUnlessTaken(db: Db, pk: number): Promise<FoundTask | null> {
  const [row] = await db.lockedUnlessTaken(withSession(db).where(eq(db.tables.tasks.pk, pk)));
  return row ?? null;
}

/** All tasks of a session, oldest first. */
export function tasksOfSession(db: Db, sessionPk: number): Promise<FoundTask[]> {
  const { tasks } = db.tables;
  return withSession(db).where(eq(tasks.session_pk, sessionPk)).orderBy(asc(tasks.pk));
}

/** Inserts a task; gives its key. */
export async function insertTask(db: Db, task: NewTask): Promise<number> {
  const [row] = await db.orm.insert(db.tables.tasks).values(task).returning({ pk: db.tables.tasks.pk });
  if (row === undefined) throw new Error('the inserted task did not come back');
  return row.pk;
}

/** Changes a task that is still as it was read: same state, same owner. False when it is not. */
export async function changeTask(
  db: Db,
  seen: Pick<TaskRow, 'pk' | 'status' | 'owner'>,
  change: TaskChange,
): Promise<boolean> {
  const { tasks } = db.tables;
  const owned = seen.owner === null ? isNull(tasks.owner) : eq(tasks.owner, seen.owner);
  const rows = await db.orm
    .update(tasks)
    .set(change)
    .where(and(eq(tasks.pk, seen.pk), eq(tasks.status, seen.status), owned))
    .returning({ pk: tasks.pk });
  return rows.length > 0;
}

/** Puts off the end of the lease of a task that still runs for this owner; false when it does not. */
export async function renewTask(db: Db, pk: number, owner: string, leaseMs: number): Promise<boolean> {
  const { tasks } = db.tables;
  const rows = await db.orm
    .update(tasks)
    .set({ lease_expires_at: sql`${db.nowMs} + ${leaseMs}` })
    .where(and(eq(tasks.pk, pk), eq(tasks.status, 'running'), eq(tasks.owner, owner)))
    .returning({ pk: tasks.pk });
  return rows.length > 0;
}

/** Queued tasks on whose session no turn runs, oldest first, those above the key `afterPk`. */
export function claimableTasks(db: Db, afterPk: number, limit: number): Promise<FoundTask[]> {
  const { tasks, sessions } = db.tables;
  const free = or(isNull(sessions.turn_owner), lte(sessions.turn_expires_at, db.nowMs));
  return withSession(db)
    .where(and(active(db), eq(tasks.status, 'queued'), gt(tasks.pk, afterPk), free))
    .orderBy(asc(tasks.pk))
    .limit(limit);
}

/** Running tasks whose lease has run out: the process that ran them is gone, or was paused for too long. */
export function expiredTasks(db: Db): Promise<FoundTask[]> {
  const { tasks } = db.tables;
  return withSession(db)
    .where(and(active(db), eq(tasks.status, 'running'), lte(tasks.lease_expires_at, db.nowMs)))
    .orderBy(asc(tasks.pk));
}

/** Whether a tick of the agent is queued or runs. */
export async function hasActiveTick(db: Db, tenant: string, agent: string): Promise<boolean> {
  const { tasks } = db.tables;
  const rows = await db.orm
    .select({ pk: tasks.pk })
    .from(tasks)
    .where(and(active(db), eq(tasks.kind, 'tick'), eq(tasks.tenant, tenant), eq(tasks.agent, agent)))
    .limit(1);
  return rows.length > 0;
}

export interface TaskFilter {
  readonly tenant: string;
  readonly agent?: string | undefined;
  readonly status?: TaskStatus | undefined;
  readonly kind?: TaskRow['kind'] | undefined;
  /** Id of the session, as clients name it. */
  readonly sessionId?: string | undefined;
}

/** Tasks newest first, those below the key `beforePk` when it is given. */
export function listTasks(
  db: Db,
  { tenant, agent, status, kind, sessionId }: TaskFilter,
  beforePk: number | null,
  limit: number,
): Promise<FoundTask[]> {
  const { tasks, sessions } = db.tables;
  return withSession(db)
    .where(
      and(
        eq(tasks.tenant, tenant),
        agent === undefined ? undefined : eq(tasks.agent, agent),
        status === undefined ? undefined : eq(tasks.status, status),
        kind === undefined ? undefined : eq(tasks.kind, kind),
        // By key, so that the few tasks of one session are found by their own index.
        sessionId === undefined
          ? undefined
          : eq(
              tasks.session_pk,
              sql`(SELECT s.pk FROM ${sessions} s WHERE s.tenant = ${tenant} AND s.id = ${sessionId})`,
            ),
        beforePk === null ? undefined : lt(tasks.pk, beforePk),
      ),
    )
    .orderBy(desc(tasks.pk))
    .limit(limit);
}

/** The task that waits for results of the tool group at `position`, or is about to bring them; null without one. */
export async function holdingTask(db: Db, sessionPk: number, position: number): Promise<TaskRow | null> {
  const { tasks } = db.tables;
  const [row] = await db.orm
    .select()
    .from(tasks)
    .where(and(holds(db, sessionPk), eq(tasks.wait_position, position)));
  return row ?? null;
}

/** The lowest position that a waiting task of the session holds out of compactions; null without one. */
export async function lowestHold(db: Db, sessionPk: number): Promise<number | null> {
  const { tasks } = db.tables;
  const [row] = await db.orm
    .select({ position: tasks.wait_position })
    .from(tasks)
    .where(holds(db, sessionPk))
    .orderBy(asc(tasks.wait_position))
    .limit(1);
  return row?.position ?? null;
}

/** A task that was resumed holds its calls until their results are stored, which is when it is claimed. */
function holds(db: Db, sessionPk: number) {
  const { tasks } = db.tables;
  const waits = or(eq(tasks.status, 'waiting'), eq(tasks.status, 'queued'));
  return and(eq(tasks.session_pk, sessionPk), waits, sql`${tasks.wait_position} IS NOT NULL`);
}

/** In the words of the partial index, without which it would not be used. */
function active(db: Db) {
  return sql`${db.tables.tasks.status} IN ('queued', 'running')`;
}

function withSession(db: Db) {
  const { tasks, sessions } = db.tables;
  return db.orm
    .select({ ...getTableColumns(tasks), session_id: sessions.id })
    .from(sessions)
    .innerJoin(tasks, eq(sessions.pk, tasks.session_pk));
}

/** Position of a turn that is not the task's any more: no message stands there. */
const DISOWNED = -1;

/** Takes an open turn from the tasks that would go on with it: it is another's now, and so are the calls in it. */
export async function disownTurn(db: Db, sessionPk: number, position: number): Promise<void> {
  const { tasks } = db.tables;
  await db.orm
    .update(tasks)
    .set({ turn_position: DISOWNED })
    .where(
      and(
        eq(tasks.session_pk, sessionPk),
        eq(tasks.turn_position, position),
        inArray(tasks.status, ['failed', 'interrupted', 'queued']),
      ),
    );
}
