/** A database as a busy service would have it, of any size, loaded by statements that both dialects understand. */

/** Of all messages, one session has a tenth; the others share the rest, and lie mixed with each other on the disk. */
const LONG_SHARE = 10;
const MESSAGES_PER_SESSION = 100;
/** Of the long session, the messages behind the summary: more than one page of a context. */
const LONG_TAIL = 300;

export interface PlanData {
  readonly messages: number;
  readonly sessions: number;
  /** Messages of the session with key 1. */
  readonly long: number;
}

/** @param messages how many messages in all; there is one session for each hundred */
export function planData(messages: number): PlanData {
  return { messages, sessions: messages / MESSAGES_PER_SESSION, long: messages / LONG_SHARE };
}

/** The id of the session with this key, and of the task with this key. */
export const sessionIdOf = (pk: number) => `s${pk}`;
export const taskIdOf = (pk: number) => `t${pk}`;

/**
 * The statements that fill an empty, migrated database. What is over is much, what is at work is little: of ten
 * thousand tasks, two are queued, two run and ten wait; of ten thousand keys ten are expired.
 *
 * @param series gives the name of a source of rows with a column `i`, from 0 to below `count`
 * @param nowMs the store's clock
 */
export function planStatements(
  { messages, sessions, long }: PlanData,
  series: (count: number) => string,
  nowMs: number,
): string[] {
  const others = sessions - 1;
  const rest = messages - long;
  const many = messages / 10;
  const count = `CASE WHEN i = 0 THEN ${long} ELSE (${rest} - i + ${others}) / ${others} END`;
  const tail = `CASE WHEN i = 0 THEN ${LONG_TAIL} ELSE 40 END`;
  return [
    `INSERT INTO agents (tenant, name, definition, tick_due_at, created_at, updated_at)
     SELECT 'default', 'agent' || i, '{"tools":[]}',
       CASE WHEN i % 10 = 0 THEN ${nowMs} - i WHEN i % 2 = 0 THEN ${nowMs} + 3600000 END, 0, 0
     FROM ${series(500)}`,
    // Every other session has a summary, and one in a hundred is closed.
    `INSERT INTO sessions (pk, tenant, id, agent, kind, status, message_count, conversation_count, total_chars,
       input_tokens, output_tokens, revision, version, created_at, updated_at, compact_size, compact_summary)
     SELECT pk, 'default', 's' || pk, 'agent' || (pk % 100), 'chat',
       CASE WHEN pk % 100 = 7 THEN 'closed' ELSE 'open' END, n, n - 2, (n - 2) * 100, 0, 0, 1, 1, 0, 0,
       CASE WHEN pk % 2 = 1 THEN n - 2 - tail ELSE 0 END, CASE WHEN pk % 2 = 1 THEN 'What was said.' END
     FROM (SELECT i + 1 AS pk, ${count} AS n, ${tail} AS tail FROM ${series(sessions)}) AS counted`,
    // Two system messages, then turns of six: a question, a call, its result, an answer, thanks, a reply.
    `INSERT INTO messages (session_pk, id, seq, position, group_start, running_total, role, tool_call_count, chars,
       text_bytes, created_at, body)
     SELECT session_pk, 'm' || i, seq, position,
       CASE WHEN position % 6 = 2 THEN position - 1 ELSE position END, (position + 1) * 100,
       CASE WHEN position IS NULL THEN 'system' WHEN position % 6 IN (0, 4) THEN 'user'
         WHEN position % 6 = 2 THEN 'tool' ELSE 'assistant' END,
       CASE WHEN position % 6 = 1 THEN 1 ELSE 0 END, 100, 100, 0,
       '{"role":"user","content":"The ferry to Oslo leaves at 18:30, berth ' || i || ' is taken, berth 12 is free."}'
     FROM (
       SELECT i, session_pk, seq, CASE WHEN seq > 1 THEN seq - 2 END AS position FROM (
         SELECT i, CASE WHEN i < ${long} THEN 1 ELSE 2 + (i - ${long}) % ${others} END AS session_pk,
           CASE WHEN i < ${long} THEN i ELSE (i - ${long}) / ${others} END AS seq
         FROM ${series(messages)}
       ) AS placed
     ) AS numbered`,
    `INSERT INTO compactions (session_pk, id, lease_owner, trigger, outcome, from_size, to_size, compact_count,
       keep_recent, chars_before, chars_after, model, requests, duration_ms, created_at)
     SELECT 1 + i % ${sessions}, 'c' || i, 'gone', 'manual', 'completed', 0, 10, 50, 0, 1000, 100, 'm', 1, 1, 0
     FROM ${series(2 * sessions)}`,
    `INSERT INTO tasks (pk, tenant, id, session_pk, agent, kind, status, input, wait_position, event_count, owner,
       lease_expires_at, created_at, updated_at)
     SELECT i + 1, 'default', 't' || (i + 1), 1 + i % ${sessions}, 'agent' || (i % 100),
       CASE WHEN i % 4 = 0 THEN 'tick' ELSE 'task' END,
       CASE i % 5000 WHEN 0 THEN 'queued' WHEN 1 THEN 'running' ELSE
         CASE WHEN i % 1000 = 2 THEN 'waiting' ELSE 'completed' END END,
       '"Go on."', CASE WHEN i % 1000 = 2 THEN 1 END, 3, CASE WHEN i % 5000 = 1 THEN 'owner' || i END,
       CASE WHEN i % 5000 = 1 THEN ${nowMs} + 3600000 - i % 2 * 7200000 END, 0, 0
     FROM ${series(many)}`,
    `INSERT INTO task_events (task_pk, seq, type, data, created_at)
     SELECT 1 + i / 3, i % 3, 'task', '{}', 0 FROM ${series(many)}`,
    `INSERT INTO idempotency_keys (tenant, key, fingerprint, status, answer_status, answer_body, created_at, expires_at)
     SELECT 'default', 'k' || i, 'f', 'answered', 200, '{}', 0, ${nowMs} + CASE WHEN i % 1000 = 0 THEN -i ELSE 3600000 + i END
     FROM ${series(many)}`,
  ];
}
