import { and, desc, eq, lt, ne, sql } from 'drizzle-orm';
import type { Db } from '../store.js';
import type { CompactionRow, SessionRow, Tables } from '../tables.js';
import { holds } from './leases.js';

/** Compactions as records, and the one statement that moves a session's summary and pointer. */

export type NewCompaction = Tables['compactions']['$inferInsert'];

export async function insertCompaction(db: Db, record: NewCompaction): Promise<CompactionRow> {
  const [row] = await db.orm.insert(db.tables.compactions).values(record).returning();
  if (row === undefined) throw new Error('the inserted compaction did not come back');
  return row;
}

export type CompactionProgress = Partial<
  Pick<
    CompactionRow,
    | 'outcome'
    | 'error_code'
    | 'error_detail'
    | 'to_size'
    | 'summary'
    | 'chars_after'
    | 'model'
    | 'requests'
    | 'input_tokens'
    | 'output_tokens'
    | 'duration_ms'
    | 'finished_at'
  >
>;

/** Null when the record is gone, with its session or by a reset. */
export async function updateCompaction(
  db: Db,
  pk: number,
  progress: CompactionProgress,
): Promise<CompactionRow | null> {
  const { compactions } = db.tables;
  const [row] = await db.orm.update(compactions).set(progress).where(eq(compactions.pk, pk)).returning();
  return row ?? null;
}

export interface SummaryStep {
  readonly sessionPk: number;
  readonly owner: string;
  /** The revision as last read, or as last committed by this very compaction. */
  readonly revision: number;
  readonly summary: string;
  readonly size: number;
  readonly compactionId: string;
  /** Position of a user message that the pointer passes although the summary does not cover it; null without one. */
  readonly carried: number | null;
  /** A compaction by hand lets automatic ones try again. */
  readonly manual: boolean;
}

/**
 * Moves summary and pointer together, if nothing stands against it: the history is as it was read, the
 * session open, the lease still ours. Null when the condition fails, and then nothing is written.
 */
export async function commitSummary(db: Db, step: SummaryStep, nowMs: number): Promise<SessionRow | null> {
  const { sessions } = db.tables;
  const [row] = await db.orm
    .update(sessions)
    .set({
      compact_summary: step.summary,
      compact_size: step.size,
      current_compaction_id: step.compactionId,
      carried_position: step.carried,
      ...(step.manual ? { auto_failures: 0, auto_error: null } : {}),
      updated_at: nowMs,
      revision: sql`${sessions.revision} + 1`,
      version: sql`${sessions.version} + 1`,
    })
    .where(
      and(
        holds(db, step.sessionPk, step.owner),
        eq(sessions.revision, step.revision),
        eq(sessions.status, 'open'),
      ),
    )
    .returning();
  return row ?? null;
}

/** Marks what a dead process left as running, once another attempt of the session has the lease. */
export async function failAbandoned(db: Db, sessionPk: number, owner: string, nowMs: number): Promise<void> {
  const { compactions } = db.tables;
  await db.orm
    .update(compactions)
    .set({
      outcome: sql`CASE WHEN ${compactions.to_size} > ${compactions.from_size} THEN 'partial' ELSE 'failed' END`,
      error_code: 'INTERRUPTED',
      error_detail: INTERRUPTED_DETAIL,
      finished_at: nowMs,
    })
    .where(
      and(
        eq(compactions.session_pk, sessionPk),
        eq(compactions.outcome, 'running'),
        ne(compactions.lease_owner, owner),
      ),
    );
}

export const INTERRUPTED_DETAIL = 'The process that worked on it stopped before it was done';

/** Compactions of a session newest first, those below the key `beforePk` when it is given. */
export async function listCompactions(
  db: Db,
  sessionPk: number,
  beforePk: number | null,
  limit: number,
): Promise<CompactionRow[]> {
  const { compactions } = db.tables;
  return db.orm
    .select()
    .from(compactions)
    .where(
      and(
        eq(compactions.session_pk, sessionPk),
        beforePk === null ? undefined : lt(compactions.pk, beforePk),
      ),
    )
    .orderBy(desc(compactions.pk))
    .limit(limit);
}

export async function findCompaction(db: Db, sessionPk: number, id: string): Promise<CompactionRow | null> {
  const { compactions } = db.tables;
  const [row] = await db.orm
    .select()
    .from(compactions)
    .where(and(eq(compactions.session_pk, sessionPk), eq(compactions.id, id)));
  return row ?? null;
}
