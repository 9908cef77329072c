import type { AppendRun, RunStart } from '../store.js';
import type { Queryable } from './queries.js';
import { mayRunAgain } from './store-error.js';

/**
 * Moves the counters of a session on and stores messages from where they were, as one statement, which is its own
 * transaction: one way to the server and back. The update locks the session, and what it returns is the newest state,
 * so that runs of several processes follow each other without a gap.
 */
const APPEND_RUN = `
WITH grown AS (
  UPDATE sessions SET
    message_count = message_count + $3::bigint,
    conversation_count = conversation_count + $4::bigint,
    total_chars = total_chars + $5::bigint,
    updated_at = $6::bigint,
    compact_size = least(compact_size, conversation_count),
    version = version + 1
  WHERE tenant = $1 AND id = $2 AND status = 'open' AND (turn_position IS NULL OR NOT $7::boolean) AND (
    turn_expires_at IS NULL OR turn_expires_at <= (extract(epoch from statement_timestamp()) * 1000)::bigint
  )
  RETURNING pk, message_count - $3::bigint AS seq, conversation_count - $4::bigint AS position,
    total_chars - $5::bigint AS chars
), stored AS (
  INSERT INTO messages (session_pk, id, seq, position, group_start, running_total, role, tool_call_count, chars,
    text_bytes, created_at, body)
  SELECT grown.pk, run.id, grown.seq + run.seq, grown.position + run.position, grown.position + run.group_start,
    grown.chars + run.running_total, run.role, run.tool_call_count, run.chars, run.text_bytes, $6::bigint, run.body
  FROM grown, unnest($8::text[], $9::bigint[], $10::bigint[], $11::bigint[], $12::bigint[], $13::text[],
    $14::bigint[], $15::bigint[], $16::bigint[], $17::text[])
    AS run(id, seq, position, group_start, running_total, role, tool_call_count, chars, text_bytes, body)
)
SELECT seq, position FROM grown`;

export async function appendRun(queries: Queryable, run: AppendRun): Promise<RunStart | null> {
  const { tenant, id, messages, speaks, nowMs } = run;
  const conversation = messages.filter(({ position }) => position !== null);
  const columns = (['id', 'seq', 'position', 'group_start', 'running_total', 'role'] as const).map((name) =>
    messages.map((message) => message[name]),
  );
  const sizes = (['tool_call_count', 'chars', 'text_bytes', 'body'] as const).map((name) =>
    messages.map((message) => message[name]),
  );
  const chars = conversation.at(-1)?.running_total ?? 0;
  const counts = [messages.length, conversation.length, chars];
  const values = [tenant, id, ...counts, nowMs, speaks, ...columns, ...sizes];
  try {
    const { rows } = await queries.query({ text: APPEND_RUN }, values);
    const [start]: (RunStart | undefined)[] = rows;
    return start ?? null;
  } catch (error) {
    // Undone in favour of another: the transaction that follows waits its turn.
    if (mayRunAgain(error)) return null;
    throw error;
  }
}
