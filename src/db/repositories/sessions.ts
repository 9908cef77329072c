import { and, desc, eq, lt, sql } from 'drizzle-orm';
import { perDb } from '../per-db.js';
import type { Db } from '../store.js';
import type { SessionRow, Tables } from '../tables.js';

/** Sessions as rows. Ids are resolved within a tenant; everything else goes by the internal key. */

export type NewSession = Tables['sessions']['$inferInsert'];

/** A session that a transaction reads by one of these is locked until its end: counters and state go on from it. */
const statements = perDb(({ orm, nowMs, tables: { sessions }, locked }) => ({
  find: locked(
    orm
      .select()
      .from(sessions)
      .where(and(eq(sessions.tenant, sql.placeholder('tenant')), eq(sessions.id, sql.placeholder('id')))),
  ).prepare(),
  end: locked(
    orm
      .select({
        pk: sessions.pk,
        status: sessions.status,
        message_count: sessions.message_count,
        conversation_count: sessions.conversation_count,
        total_chars: sessions.total_chars,
        turn_position: sessions.turn_position,
        turn_rest: sql<number>`coalesce(${sessions.turn_expires_at} - ${nowMs}, 0)`,
      })
      .from(sessions)
      .where(and(eq(sessions.tenant, sql.placeholder('tenant')), eq(sessions.id, sql.placeholder('id')))),
  ).prepare(),
  grow: orm
    .update(sessions)
    .set({
      message_count: sql`${sql.placeholder('messageCount')}`,
      conversation_count: sql`${sql.placeholder('conversationCount')}`,
      total_chars: sql`${sql.placeholder('totalChars')}`,
      updated_at: sql`${sql.placeholder('now')}`,
      // A pointer past the end, left by another program, must not cover what is appended now.
      compact_size: sql`CASE WHEN ${sessions.compact_size} > ${sql.placeholder('countBefore')}
        THEN ${sql.placeholder('countBefore')} ELSE ${sessions.compact_size} END`,
      version: sql`${sessions.version} + 1`,
    })
    .where(eq(sessions.pk, sql.placeholder('pk')))
    .prepare(),
}));

export async function findSession(db: Db, tenant: string, id: string): Promise<SessionRow | null> {
  const [row] = await statements(db).find.execute({ tenant, id });
  return row ?? null;
}

/** What an append needs to know of a session: the hot path reads no summary. */
export type SessionEnd = Pick<
  SessionRow,
  'pk' | 'status' | 'message_count' | 'conversation_count' | 'total_chars' | 'turn_position'
> & {
  /** Ms until the lease of a turn at work runs out; 0 or less when none is. */
  readonly turn_rest: number;
};

export async function findSessionEnd(db: Db, tenant: string, id: string): Promise<SessionEnd | null> {
  const [row] = await statements(db).end.execute({ tenant, id });
  return row ?? null;
}

/** By internal key: finds a session that another took the id of, or none once it is deleted. */
export async function findSessionByPk(db: Db, pk: number): Promise<SessionRow | null> {
  const { sessions } = db.tables;
  const [row] = await db.locked(db.orm.select().from(sessions).where(eq(sessions.pk, pk)));
  return row ?? null;
}

export async function insertSession(db: Db, session: NewSession): Promise<SessionRow> {
  const [row] = await db.orm.insert(db.tables.sessions).values(session).returning();
  if (row === undefined) throw new Error('the inserted session did not come back');
  return row;
}

/** Moves the counters of a session on, after messages were appended; `countBefore` is of conversation messages. */
export async function growSession(
  db: Db,
  pk: number,
  to: { messageCount: number; conversationCount: number; totalChars: number; countBefore: number },
  nowMs: number,
): Promise<void> {
  await statements(db).grow.execute({ ...to, pk, now: nowMs });
}

/** A visible change by a client: sets the fields, raises the version. */
export async function changeSession(
  db: Db,
  pk: number,
  fields: Partial<Pick<SessionRow, 'title' | 'metadata' | 'status' | 'closed_at'>>,
  nowMs: number,
): Promise<SessionRow | null> {
  const { sessions } = db.tables;
  const [row] = await db.orm
    .update(sessions)
    .set({ ...fields, updated_at: nowMs, version: sql`${sessions.version} + 1` })
    .where(eq(sessions.pk, pk))
    .returning();
  return row ?? null;
}

/** Empties a session: no message, compaction or summary of it is left. A compaction at work loses its lease. */
export async function emptySession(db: Db, pk: number, nowMs: number): Promise<SessionRow | null> {
  const { sessions, messages, compactions } = db.tables;
  await db.orm.delete(messages).where(eq(messages.session_pk, pk));
  await db.orm.delete(compactions).where(eq(compactions.session_pk, pk));
  const [row] = await db.orm
    .update(sessions)
    .set({
      message_count: 0,
      conversation_count: 0,
      total_chars: 0,
      input_tokens: 0,
      output_tokens: 0,
      compact_summary: null,
      compact_size: 0,
      current_compaction_id: null,
      lease_owner: null,
      lease_expires_at: null,
      turn_position: null,
      carried_position: null,
      auto_failures: 0,
      auto_error: null,
      token_excess: null,
      token_excess_revision: null,
      updated_at: nowMs,
      revision: sql`${sessions.revision} + 1`,
      version: sql`${sessions.version} + 1`,
    })
    .where(eq(sessions.pk, pk))
    .returning();
  return row ?? null;
}

/** Deletes the session; messages and compactions go with it by their foreign keys. */
export async function removeSession(db: Db, pk: number): Promise<void> {
  await db.orm.delete(db.tables.sessions).where(eq(db.tables.sessions.pk, pk));
}

export interface SessionFilter {
  readonly tenant: string;
  readonly agent?: string | undefined;
  readonly status?: SessionRow['status'] | undefined;
}

/** Sessions newest first, those below the key `beforePk` when it is given. */
export async function listSessions(
  db: Db,
  filter: SessionFilter,
  beforePk: number | null,
  limit: number,
): Promise<SessionRow[]> {
  const { sessions } = db.tables;
  return db.orm
    .select()
    .from(sessions)
    .where(
      and(
        eq(sessions.tenant, filter.tenant),
        filter.agent === undefined ? undefined : eq(sessions.agent, filter.agent),
        filter.status === undefined ? undefined : eq(sessions.status, filter.status),
        beforePk === null ? undefined : lt(sessions.pk, beforePk),
      ),
    )
    .orderBy(desc(sessions.pk))
    .limit(limit);
}
