import type Database from 'better-sqlite3';
import type pg from 'pg';
import { TENANT } from './dataset.js';
import { type Recorded, recordPostgres, recordSqlite } from './recorded.js';
import { appendedSessions, MESSAGE, type Work } from './store-work.js';

/** The statements of the service's work, on the bare drivers: prepared once, their results thrown away. */

/** On the connection of a file that is written as the service does it. */
export async function rawSqlite(connection: Database.Database, work: Work): Promise<Work> {
  connection.pragma('synchronous = FULL');
  connection.pragma('wal_autocheckpoint = 10000');
  const begin = connection.prepare('BEGIN');
  const commit = connection.prepare('COMMIT');
  const replay = async (use: () => Promise<unknown>) => {
    const statements = (await recordSqlite(use)).map(({ text, values }) => ({
      statement: connection.prepare(text).raw(),
      values,
    }));
    return async () => {
      begin.run();
      for (const { statement, values } of statements) statement.all(...values);
      commit.run();
    };
  };
  return {
    append: rawAppend(connection),
    context: await replay(work.context),
    plan: await replay(work.plan),
  };
}

interface End {
  readonly pk: number;
  readonly seq: number;
  readonly position: number;
  readonly chars: number;
}

/** An append's statements: where the session ends, the message, the counters. */
function rawAppend(connection: Database.Database): () => Promise<void> {
  const begin = connection.prepare('BEGIN IMMEDIATE');
  const commit = connection.prepare('COMMIT');
  const end = connection.prepare<[string, string], End>(
    `SELECT pk, status, message_count AS seq, conversation_count AS position, total_chars AS chars, turn_position,
       coalesce(turn_expires_at - CAST(unixepoch('now', 'subsec') * 1000 AS INTEGER), 0) AS turn_rest
     FROM sessions WHERE tenant = ? AND id = ?`,
  );
  const insert = connection.prepare(
    `INSERT INTO messages (session_pk, id, seq, position, group_start, running_total, role, tool_call_count, chars,
       text_bytes, created_at, body) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
  );
  const grow = connection.prepare(
    `UPDATE sessions SET message_count = ?, conversation_count = ?, total_chars = ?, updated_at = ?,
       compact_size = min(compact_size, ?), version = version + 1 WHERE pk = ?`,
  );
  const nextSession = appendedSessions();
  const { role, content } = MESSAGE;
  const { length } = content;
  let ids = 0;
  return async () => {
    begin.run();
    const session = end.get(TENANT, nextSession());
    if (session === undefined) throw new Error('there is no session');
    const { pk, seq, position, chars } = session;
    const now = Date.now();
    const total = chars + length;
    const body = JSON.stringify(MESSAGE);
    insert.run(pk, `raw_${ids++}`, seq, position, position, total, role, 0, length, length, now, body);
    grow.run(seq + 1, position + 1, total, now, position, pk);
    commit.run();
  };
}

/** On a pool of as many connections; each statement is waited for. */
export async function rawPostgres(pool: pg.Pool, work: Work): Promise<Work> {
  const append = named(await recordPostgres(work.append));
  const nextSession = appendedSessions();
  const replay = async (use: () => Promise<unknown>) => {
    const statements = named(await recordPostgres(use));
    return async () => {
      const client = await pool.connect();
      if (statements.length > 1) await client.query('BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY');
      for (const statement of statements) await client.query({ ...statement, rowMode: 'array' });
      if (statements.length > 1) await client.query('COMMIT');
      client.release();
    };
  };
  return {
    append: async () => {
      const [statement] = append;
      if (statement === undefined || append.length > 1) throw new Error('an append is one statement');
      const [tenant, , ...rest] = statement.values;
      await pool.query({ ...statement, values: [tenant, nextSession(), ...rest] });
    },
    context: await replay(work.context),
    plan: await replay(work.plan),
  };
}

const named = (statements: readonly Recorded[]) =>
  statements.map(({ text, values }) => ({ name: `raw_${nameOf(text)}`, text, values: [...values] }));

const names = new Map<string, number>();

function nameOf(text: string): number {
  const number = names.get(text) ?? names.size;
  names.set(text, number);
  return number;
}
