import { sql } from 'drizzle-orm';
import type * as sqliteColumns from './columns.sqlite.js';

/**
 * The tables, once for every dialect: `columns` supplies the dialect's column types.
 * Migration 1 creates sessions, messages and compactions but for the three compaction columns of `sessions`, which
 * migration 2 adds; migration 3 adds agents, turns, tasks and idempotency keys.
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
      /** Random token of the turn that runs on the session, and when its lease runs out by the store's clock. */
      turn_owner: str(),
      turn_expires_at: epochMs(),
      /** Position of the message that opened the turn which runs, waits for results, or failed; null without one. */
      turn_position: int(),
      /** A user message below the pointer that no summary covers: contexts repeat it, the next compaction folds it. */
      carried_position: int(),
      /** Automatic compactions in a row that failed or gained nothing, and what became of the last of them. */
      auto_failures: int().notNull().default(0),
      auto_error: str(),
      /** Prompt tokens beyond the estimate, as an endpoint last reported them, and at which revision that was. */
      token_excess: int(),
      token_excess_revision: int(),
    },
    (t) => [
      uniqueIndex('sessions_tenant_id').on(t.tenant, t.id),
      index('sessions_tenant_pk').on(t.tenant, t.pk),
      index('sessions_tenant_agent_pk').on(t.tenant, t.agent, t.pk),
      // Partial: only the sessions of subagents have a parent.
      index('sessions_parent').on(t.tenant, t.parent_session_id).where(sql`parent_session_id IS NOT NULL`),
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
      trigger: str({ enum: ['manual', 'automatic'] }).notNull(),
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

  const agents = table(
    'agents',
    {
      pk: serialKey(),
      tenant: str().notNull(),
      name: str().notNull(),
      /** JSON text of the definition. */
      definition: str().notNull(),
      /** Of the file content that was last applied; null for an agent that no file has ever defined. */
      file_hash: str(),
      /** When the next scheduled tick is due; null without a schedule. */
      tick_due_at: epochMs(),
      created_at: epochMs().notNull(),
      updated_at: epochMs().notNull(),
    },
    (t) => [
      uniqueIndex('agents_tenant_name').on(t.tenant, t.name),
      index('agents_tick_due').on(t.tick_due_at),
    ],
  );

  const tasks = table(
    'tasks',
    {
      pk: serialKey(),
      tenant: str().notNull(),
      id: str().notNull(),
      session_pk: int()
        .notNull()
        .references(() => sessions.pk, { onDelete: 'cascade' }),
      agent: str().notNull(),
      kind: str({ enum: ['task', 'tick'] }).notNull(),
      status: str({
        enum: ['queued', 'running', 'waiting', 'completed', 'failed', 'cancelled', 'interrupted'],
      }).notNull(),
      /** JSON text of the input: a string, or a list of parts. */
      input: str().notNull(),
      /** Position of the message that its open turn began with; null before the input is stored. */
      turn_position: int(),
      /** Position of the tool group whose results it waits for, and its calls as JSON text. */
      wait_position: int(),
      wait_calls: str(),
      /** JSON text of what the last resume brought, until it is stored as messages; and the hash of that request. */
      resume_input: str(),
      resume_hash: str(),
      /** JSON text of the last assistant message of a completed task. */
      result: str(),
      finish_reason: str(),
      error_code: str(),
      error_detail: str(),
      input_tokens: int().notNull().default(0),
      output_tokens: int().notNull().default(0),
      /** Next `seq` of its events. */
      event_count: int().notNull().default(0),
      /** Random token of the process that runs it, and when its lease runs out by the store's clock. */
      owner: str(),
      lease_expires_at: epochMs(),
      created_at: epochMs().notNull(),
      updated_at: epochMs().notNull(),
      started_at: epochMs(),
      finished_at: epochMs(),
    },
    (t) => [
      uniqueIndex('tasks_tenant_id').on(t.tenant, t.id),
      index('tasks_tenant_pk').on(t.tenant, t.pk),
      index('tasks_tenant_agent_pk').on(t.tenant, t.agent, t.pk),
      index('tasks_session_pk').on(t.session_pk, t.pk),
      // Partial: what is to be started or watched is few beside what is over.
      index('tasks_active').on(t.status, t.pk).where(sql`status IN ('queued', 'running')`),
    ],
  );

  const task_events = table(
    'task_events',
    {
      pk: serialKey(),
      task_pk: int()
        .notNull()
        .references(() => tasks.pk, { onDelete: 'cascade' }),
      seq: int().notNull(),
      type: str().notNull(),
      /** JSON text of an object. */
      data: str().notNull(),
      created_at: epochMs().notNull(),
    },
    (t) => [uniqueIndex('task_events_task_seq').on(t.task_pk, t.seq)],
  );

  const idempotency_keys = table(
    'idempotency_keys',
    {
      pk: serialKey(),
      tenant: str().notNull(),
      key: str().notNull(),
      /** Hash of method, path and body. */
      fingerprint: str().notNull(),
      /** `released`: its work ended without an answer, and the same request may go on with it. */
      status: str({ enum: ['running', 'released', 'answered'] }).notNull(),
      /** Random token of the request at work, and when its lease runs out by the store's clock. */
      owner: str(),
      lease_expires_at: epochMs(),
      /** The session and the position of the message that the request has stored. No reference: it outlives both. */
      session_pk: int(),
      position: int(),
      answer_status: int(),
      answer_location: str(),
      answer_body: str(),
      created_at: epochMs().notNull(),
      expires_at: epochMs().notNull(),
    },
    (t) => [
      uniqueIndex('idempotency_keys_tenant_key').on(t.tenant, t.key),
      index('idempotency_keys_expires').on(t.expires_at),
    ],
  );

  return { sessions, messages, compactions, agents, tasks, task_events, idempotency_keys };
}

export type Tables = ReturnType<typeof defineTables>;
export type SessionRow = Tables['sessions']['$inferSelect'];
export type MessageRow = Tables['messages']['$inferSelect'];
export type CompactionRow = Tables['compactions']['$inferSelect'];
export type AgentRow = Tables['agents']['$inferSelect'];
export type TaskRow = Tables['tasks']['$inferSelect'];
export type TaskEventRow = Tables['task_events']['$inferSelect'];
export type IdempotencyRow = Tables['idempotency_keys']['$inferSelect'];
