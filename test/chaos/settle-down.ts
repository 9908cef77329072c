import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Client } from './client.js';
import { newMark } from './marks.js';
import { rowsOf } from './stored.js';

/** What a compaction that finds nothing to fold may say. */
const REASONS = ['nothing_new', 'empty_text', 'pending_tool_calls', 'turn_open', 'kept_recent'];

/** Tasks that are still at work; those that cannot begin wait in the queue for what their sessions wait for. */
export async function tasksAtWork(databaseUrl: string, states: readonly string[]): Promise<number> {
  const list = states.map((state) => `'${state}'`).join(', ');
  const [row] = await rowsOf<{ count: number }>(
    databaseUrl,
    `SELECT count(*)::int AS count FROM tasks WHERE status IN (${list})`,
  );
  return row?.count ?? 0;
}

/** Waits until no task is in one of these states, for `ms` at most. */
export async function tasksLeave(
  databaseUrl: string,
  states: readonly string[],
  ms: number,
): Promise<number> {
  const deadline = performance.now() + ms;
  for (;;) {
    const left = await tasksAtWork(databaseUrl, states);
    if (left === 0 || performance.now() > deadline) return left;
    await sleep(200);
  }
}

/** Leases that still hold something, though nothing is at work. */
export async function leaseFaults(databaseUrl: string): Promise<string[]> {
  const now = '(extract(epoch from clock_timestamp()) * 1000)::bigint';
  const rows = await rowsOf<{ fault: string }>(
    databaseUrl,
    `SELECT 'the session ' || id || ' is leased to a turn' AS fault FROM sessions
       WHERE turn_owner IS NOT NULL AND turn_expires_at > ${now}
     UNION ALL SELECT 'the session ' || id || ' is leased to a compaction' FROM sessions
       WHERE lease_owner IS NOT NULL AND lease_expires_at > ${now}
     UNION ALL SELECT 'the task ' || id || ' is leased' FROM tasks WHERE owner IS NOT NULL
     UNION ALL SELECT 'the key ' || key || ' is leased' FROM idempotency_keys
       WHERE owner IS NOT NULL AND lease_expires_at > ${now}`,
  );
  return rows.map(({ fault }) => fault);
}

/** Every open session takes a new turn, and then a compaction; at once, without a second try. */
export async function newLifeFaults(databaseUrl: string, client: Client): Promise<string[]> {
  const rows = await rowsOf<{ id: string }>(
    databaseUrl,
    `SELECT id FROM sessions WHERE status = 'open' ORDER BY pk`,
  );
  const faults: string[] = [];
  for (const { id: sessionId } of rows) {
    const turn = await client.once({
      kind: 'final turns',
      method: 'POST',
      path: '/agents/plain/chat',
      body: { sessionId, message: `${newMark('final')} And now?` },
      key: randomUUID(),
    });
    if (turn.answer?.status !== 200) faults.push(`${sessionId} takes no turn: ${turn.answer?.text}`);
  }
  // What was queued behind an open turn runs now.
  const left = await tasksLeave(databaseUrl, ['queued', 'running'], 20_000);
  if (left > 0) faults.push(`${left} tasks do not come to rest`);
  for (const { id } of rows) {
    const path = `/sessions/${id}/compact`;
    const { answer } = await client.once({
      kind: 'final compactions',
      method: 'POST',
      path,
      body: { compactCount: 60 },
    });
    const body: { alreadyUpToDate?: boolean; reason?: string } = JSON.parse(answer?.text ?? '{}');
    if (answer?.status !== 200) faults.push(`${id} takes no compaction: ${answer?.text}`);
    else if (body.alreadyUpToDate === true && !REASONS.includes(body.reason ?? ''))
      faults.push(`${id} is said to be up to date for ${body.reason}`);
  }
  return faults;
}
