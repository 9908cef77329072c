import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { onTestFinished } from 'vitest';
import type { CopyConnection } from '../../src/cli/copy/connection.js';
import { type CopyResult, copyDatabase } from '../../src/cli/copy/copy-database.js';
import { type CopyRun, newProgress } from '../../src/cli/copy/copy-run.js';
import { openSource, openTarget } from '../../src/cli/copy/open-connection.js';
import { COPY_TABLES, columnList, type Row } from '../../src/cli/copy/tables.js';
import { POSTGRES_DEFAULTS } from '../../src/db/postgres/settings.js';
import { openSqliteStore } from '../../src/db/store.sqlite.js';
import { postgresSql, sqliteSql } from '../support/sql.js';
import { type Finished, runScript } from './run-command.js';

export const COPY = 'src/cli/copy.ts';

export function copy(from: string, to: string, ...more: string[]): Promise<Finished> {
  return runScript(COPY, ['--from', from, '--to', to, ...more]);
}

/** Runs SQL on the database of a URL, with `?` for parameters. */
export function sqlOn(url: string, statement: string, ...params: unknown[]): unknown[] {
  return url.startsWith('file:')
    ? sqliteSql(url.slice('file:'.length), statement, params)
    : postgresSql(url, statement, params);
}

/** All rows of all tables, as the database itself has them. */
export function contentOf(url: string): Record<string, unknown[]> {
  return Object.fromEntries(
    COPY_TABLES.map((table) => [
      table.name,
      sqlOn(url, `SELECT ${columnList(table)} FROM ${table.name} ORDER BY pk`),
    ]),
  );
}

export function hasMarker(url: string): boolean {
  const from = url.startsWith('file:') ? 'sqlite_master WHERE name' : 'pg_tables WHERE tablename';
  return sqlOn(url, `SELECT 1 FROM ${from} = 'compactd_copy'`).length > 0;
}

/** The copy in this process, with parts replaced. Its connections are closed at the end, as those of a process are. */
export async function copyHere(
  from: string,
  to: string,
  change: (run: CopyRun) => Partial<CopyRun> = () => ({}),
): Promise<CopyResult> {
  const source = await openSource(from, POSTGRES_DEFAULTS);
  const target = await openTarget(to, POSTGRES_DEFAULTS);
  const signal = new AbortController().signal;
  const run: CopyRun = { source, target, progress: newProgress(), signal, force: false };
  try {
    return await copyDatabase({ ...run, ...change(run) });
  } finally {
    await source.close();
    await target.close();
  }
}

/** Whether a copy came to its end, and was not cut off by a test. */
export async function hasEnded(run: Promise<CopyResult>): Promise<boolean> {
  try {
    await run;
    return true;
  } catch (error) {
    if (error instanceof Error && error.message === CUT_OFF) return false;
    throw error;
  }
}

export const CUT_OFF = 'cut off';

/** Calls `before` ahead of every operation of the connection. */
export function watched(connection: CopyConnection, before: (operation: string) => void): CopyConnection {
  const { name, nowMs } = connection;
  return {
    name,
    nowMs,
    query: async (sql, ...values) => {
      before('query');
      return connection.query(sql, ...values);
    },
    beginSnapshot: async () => {
      before('beginSnapshot');
      return connection.beginSnapshot();
    },
    begin: async () => {
      before('begin');
      return connection.begin();
    },
    commit: async () => {
      before('commit');
      return connection.commit();
    },
    rollback: async () => {
      before('rollback');
      return connection.rollback();
    },
    hasTable: async (table) => {
      before('hasTable');
      return connection.hasTable(table);
    },
    insert: async (table, rows) => {
      before('insert');
      return connection.insert(table, rows);
    },
    highestKey: async (table) => {
      before('highestKey');
      return connection.highestKey(table);
    },
    keepKeysAbove: async (table, key) => {
      before('keepKeysAbove');
      return connection.keepKeysAbove(table, key);
    },
    analyze: async () => {
      before('analyze');
      return connection.analyze();
    },
    close: () => connection.close(),
  };
}

/** Starts a copy as a process of its own and kills it once `when` says so; false when it ended before. */
export async function killedCopy(from: string, to: string, when: () => boolean): Promise<boolean> {
  const child = spawn(process.execPath, ['--import', 'tsx', COPY, '--from', from, '--to', to], {
    cwd: fileURLToPath(new URL('../..', import.meta.url)),
    stdio: 'ignore',
  });
  onTestFinished(() => {
    child.kill('SIGKILL');
  });
  const exited = once(child, 'exit');
  while (child.exitCode === null && !when()) await new Promise((resolve) => setTimeout(resolve, 2));
  const killed = child.kill('SIGKILL');
  await exited;
  return killed && child.signalCode === 'SIGKILL';
}

/** A migrated SQLite file with so many sessions, and messages by turns in each of them. */
export async function filledFile(
  file: string,
  { sessions, messages, chars }: { sessions: number; messages: number; chars: number },
): Promise<string> {
  await openSqliteStore(file).close();
  const url = `file:${file}`;
  sqlOn(
    url,
    `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?)
     INSERT INTO sessions (tenant, id, kind, status, message_count, conversation_count, total_chars, input_tokens,
       output_tokens, revision, version, created_at, updated_at)
     SELECT 'default', 's' || i, 'manual', 'open', 0, 0, 0, 0, 0, 1, 1, 1760000000000 + i, 1760000000000 FROM n`,
    sessions,
  );
  sqlOn(
    url,
    `WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < ? - 1),
       given(sessions) AS (SELECT CAST(? AS INTEGER))
     INSERT INTO messages (session_pk, id, seq, position, group_start, running_total, role, tool_call_count, chars,
       text_bytes, created_at, body)
     SELECT 1 + i % sessions, 'm' || i, i / sessions, i / sessions, i / sessions, i, 'user', 0, 1, 1, 1760000000000,
       json_object('role', 'user', 'content', i || ' é漢 " ' || char(10) || hex(randomblob(? / 2))) FROM n, given`,
    messages,
    sessions,
    chars,
  );
  return url;
}

/** A row whose values are as odd as each column allows; it belongs to the rows with the same key. */
export function oddRow(tableName: string, key: number): { readonly columns: string; readonly row: Row } {
  const table = COPY_TABLES.find(({ name }) => name === tableName);
  if (table === undefined) throw new Error(tableName);
  const row = table.columns.map(({ name, kind }, index) => {
    if (name === 'pk') return key;
    if (name.endsWith('_pk')) return key;
    // A lease that is long over.
    if (name.endsWith('expires_at')) return 1_000 + index;
    if (kind === 'text') return `${key}\u0001 \\N "{},'\u2028 \r\n\t \u{1f6a2}\ufffd e\u0301 ${index}`;
    return kind === 'real' ? 0.1 + key / 3 : Number.MAX_SAFE_INTEGER - key - index;
  });
  return { columns: columnList(table), row };
}
