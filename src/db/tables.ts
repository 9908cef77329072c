import { sql } from 'drizzle-orm';
import type * as sqliteColumns from './columns.sqlite.js';

/**
 * The tables, once for every dialect: `columns` supplies the dialect's column types.
 * Migration 1 creates everything but the three compaction columns of `sessions`; migration 2 adds those.
 */
export function defineTables(columns: typeof sqliteColumns) {
  const { table, serialKey, rowKey, str, int, float, epochMs, index, uniqueIndex } = columns;

  const sessions = table(
    'sessions',
    {
      pk: serialKey(),
      tenant: str().notNull(),
      id: str().notNull(),
      agent: str(),
      parent_session_id: str(),
      kind: str({ enum: ['manual', 'chat', 'task', 'subagent', 'daemon'] }).notNull(),
      status: str({ enum: ['open', 'closed'] }).notNull(),
      title: str(),
      /** JSON text of an object. */
      metadata: str(),
      /** All messages, which is also the next `seq`. */
      message_count: int().notNull(),
      /** Conversation messages only, which is also the next `position`. */
      conversation_count: int().notNull(),
      /** Chars of all conversation messages: the running total through the newest one. */
      total_chars: int().notNull(),
      input_tokens: int().notNull(),
      output_tokens: int().notNull(),
      revision: int().notNull(),
      version: int().notNull(),
      /** The newest compaction of the live chain; null without one. */
      current_compaction_id: str(),
      /** Random token of the compaction at work, and when its lease runs out by the store's clock. */
      lease_owner: str(),
      lease_expires_at: epochMs(),
      created_at: epochMs().notNull(),
      updated_at: epochMs().notNull(),
      closed_at: epochMs(),
      compact_summary: str(),
      compact_size: int().notNull().default(0),
      compact_count: float().notNull().default(50),
    },
    (t) => [
      uniqueIndex('sessions_tenant_id').on(t.tenant, t.id),
      index('sessions_tenant_pk').on(t.tenant, t.pk),
      index('sessions_tenant_agent_pk').on(t.tenant, t.agent, t.pk),
    ],
  );

  const messages = table(
    'messages',
    {
      pk: rowKey(),
      session_pk: int()
        .notNull()
        .references(() => sessions.pk, { onDelete: 'cascade' }),
      id: str().notNull(),
      seq: int().notNull(),
      /** Index among the conversation messages; null for system messages. */
      position: int(),
      /** Position of the tool group's first message, or the message's own; null for system messages. */
      group_start: int(),
      /** Chars of all conversation messages through this one; null for system messages. */
      running_total: int(),
      role: str({ enum: ['system', 'developer', 'user', 'assistant', 'tool'] }).notNull(),
      tool_call_count: int().notNull(),
      chars: int().notNull(),
      /** UTF-8 bytes of the measured text, for token estimates. */
      text_bytes: int().notNull(),
      created_at: epochMs().notNull(),
      /** The message as JSON text, as it was given. Last, so that the small columns are read without it. */
      body: str().notNull(),
    },
    (t) => [
      uniqueIndex('messages_session_seq').on(t.session_pk, t.seq),
      // Partial: the few system messages of a long session are found without passing the others.
      index('messages_session_system').on(t.session_pk, t.seq).where(sql`position IS NULL`),
      uniqueIndex('messages_session_total').on(t.session_pk, t.running_total, t.position),
    ],
  );

  const compactions = table(
    'compactions',
    {
      pk: serialKey(),
      session_pk: int()
        .notNull()
        .references(() => sessions.pk, { onDelete: 'cascade' }),
      id: str().notNull(),
      predecessor_id: str(),
      /** The lease token of the attempt; tells a record at work from one whose process died. */
      lease_owner: str().notNull(),
      trigger: str({ enum: ['manual'] }).notNull(),
      outcome: str({ enum: ['running', 'completed', 'partial', 'failed'] }).notNull(),
      error_code: str(),
      error_detail: str(),
      from_size: int().notNull(),
      to_size: int().notNull(),
      compact_count: float().notNull(),
      keep_recent: int().notNull(),
      instructions: str(),
      /** The summary it produced; null until its first committed step. */
      summary: str(),
      chars_before: int().notNull(),
      chars_after: int().notNull(),
      model: str().notNull(),
      requests: int().notNull(),
      input_tokens: int(),
      output_tokens: int(),
      duration_ms: int().notNull(),
      created_at: epochMs().notNull(),
      finished_at: epochMs(),
    },
    (t) => [uniqueIndex('compactions_id').on(t.id), index('compactions_session_pk').on(t.session_pk, t.pk)],
  );

  return { sessions, messages, compactions };
}

export type Tables = ReturnType<typeof defineTables>;
export type SessionRow = Tables['sessions']['$inferSelect'];
export type MessageRow = Tables['messages']['$inferSelect'];
export type CompactionRow = Tables['compactions']['$inferSelect'];
