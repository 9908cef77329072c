import { and, desc, eq, inArray, like, lt, ne, sql } from 'drizzle-orm';
import { perDb } from '../per-db.js';
import type { Db } from '../store.js';
import type { AgentRow } from '../tables.js';

/**
 * Agents as rows. The row of a deleted agent that a file once defined stays behind with the definition `null`,
 * to remember which file content was applied: the file must not bring back what was deleted. No function but
 * `appliedFileHash` sees such a row.
 */

const DELETED = 'null';

/**
 * Keeps others from defining or removing agents of the tenant until the end of the transaction: which agents may be
 * there depends on all of them.
 */
export function lockAgents(db: Db, tenant: string): Promise<void> {
  return db.lock(`agents of ${tenant}`);
}

const statements = perDb(({ orm, tables: { agents } }) => ({
  find: orm
    .select()
    .from(agents)
    .where(
      and(
        eq(agents.tenant, sql.placeholder('tenant')),
        eq(agents.name, sql.placeholder('name')),
        ne(agents.definition, DELETED),
      ),
    )
    .prepare(),
}));

export async function findAgent(db: Db, tenant: string, name: string): Promise<AgentRow | null> {
  const [row] = await statements(db).find.execute({ tenant, name });
  return row ?? null;
}

/** Agents newest first, those below the key `beforePk` when it is given. */
export function listAgents(
  db: Db,
  tenant: string,
  beforePk: number | null,
  limit: number,
): Promise<AgentRow[]> {
  const { agents } = db.tables;
  return db.orm
    .select()
    .from(agents)
    .where(and(live(db, tenant), beforePk === null ? undefined : lt(agents.pk, beforePk)))
    .orderBy(desc(agents.pk))
    .limit(limit);
}

/** Which of these names are agents. */
export async function existingAgents(db: Db, tenant: string, names: readonly string[]): Promise<Set<string>> {
  const { agents } = db.tables;
  const rows = await db.orm
    .select({ name: agents.name })
    .from(agents)
    .where(and(live(db, tenant), inArray(agents.name, [...names])));
  return new Set(rows.map(({ name }) => name));
}

/**
 * By name, all agents whose definition may mention a word as JSON text, such as `"subagents"`: spares parsing the
 * others. The caller looks closer, `_` being any char to LIKE.
 */
export async function agentsMentioning(db: Db, tenant: string, word: string): Promise<AgentRow[]> {
  const { agents } = db.tables;
  await lockAgents(db, tenant);
  return db.orm
    .select()
    .from(agents)
    .where(and(live(db, tenant), like(agents.definition, `%"${word}"%`)))
    .orderBy(agents.name);
}

/** What to store of an agent. */
export interface AgentFields {
  readonly tenant: string;
  readonly name: string;
  /** JSON text. */
  readonly definition: string;
  /** Of the file content that is being applied; undefined keeps what is there. */
  readonly fileHash?: string;
  /** Ms from now to the next tick; null for no schedule, undefined keeps when it is due. */
  readonly tickInMs: number | null | undefined;
}

/** Inserts an agent, or gives an existing one its new definition. */
export async function upsertAgent(db: Db, fields: AgentFields, nowMs: number): Promise<AgentRow> {
  const { agents } = db.tables;
  const { tenant, name, definition, tickInMs } = fields;
  await lockAgents(db, tenant);
  const file_hash = fields.fileHash ?? (await appliedFileHash(db, tenant, name));
  const dueAt = typeof tickInMs === 'number' ? sql`${db.nowMs} + ${tickInMs}` : null;
  const change = { definition, file_hash, updated_at: nowMs };
  const [changed] = await db.orm
    .update(agents)
    .set(tickInMs === undefined ? change : { ...change, tick_due_at: dueAt })
    .where(and(live(db, tenant), eq(agents.name, name)))
    .returning();
  if (changed !== undefined) return changed;
  // What a deleted agent of the name has left: the new one is a new row, with its place in the list.
  await db.orm.delete(agents).where(and(eq(agents.tenant, tenant), eq(agents.name, name)));
  const [inserted] = await db.orm
    .insert(agents)
    .values({ tenant, name, ...change, tick_due_at: dueAt, created_at: nowMs })
    .returning();
  if (inserted === undefined) throw new Error('the inserted agent did not come back');
  return inserted;
}

/** Of the file content that the agent was last defined by, deleted or not; null when no file ever did. */
export async function appliedFileHash(db: Db, tenant: string, name: string): Promise<string | null> {
  const { agents } = db.tables;
  const [row] = await db.orm
    .select({ file_hash: agents.file_hash })
    .from(agents)
    .where(and(eq(agents.tenant, tenant), eq(agents.name, name)));
  return row?.file_hash ?? null;
}

/** Deletes the agent; what was applied from a file is remembered. */
export async function removeAgent(db: Db, { pk, file_hash }: AgentRow, nowMs: number): Promise<void> {
  const { agents } = db.tables;
  if (file_hash === null) {
    await db.orm.delete(agents).where(eq(agents.pk, pk));
    return;
  }
  await db.orm
    .update(agents)
    .set({ definition: DELETED, tick_due_at: null, updated_at: nowMs })
    .where(eq(agents.pk, pk));
}

function live(db: Db, tenant: string) {
  const { agents } = db.tables;
  return and(eq(agents.tenant, tenant), ne(agents.definition, DELETED));
}
