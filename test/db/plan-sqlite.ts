import Database from 'better-sqlite3';
import { vi } from 'vitest';
import type { Store } from '../../src/db/store.js';
import { openSqliteStore } from '../../src/db/store.sqlite.js';
import { type PlanData, planStatements } from './plan-data.js';
import type { RanStatement, ReadStep } from './plan-steps.js';

/** Creates and fills the file. */
export async function loadSqlite(file: string, data: PlanData): Promise<void> {
  await openSqliteStore(file).close();
  const connection = new Database(file);
  for (const pragma of ['synchronous = OFF', 'foreign_keys = OFF', 'cache_size = -200000'])
    connection.pragma(pragma);
  const series = (count: number) =>
    `(WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < ${count - 1}) SELECT i FROM n)`;
  connection.transaction(() => {
    for (const statement of planStatements(data, series, Date.now())) connection.exec(statement);
  })();
  connection.close();
}

/** Lets SQLite know the sizes of its tables and indexes, as it does when a store has been used for some time, or not. */
export function setStatistics(file: string, known: boolean): void {
  const connection = new Database(file);
  connection.exec('ANALYZE');
  if (!known) connection.exec('DELETE FROM sqlite_stat1; DELETE FROM sqlite_stat4');
  connection.close();
}

type Statement = Database.Statement<unknown[], unknown>;

/** What statements run within `use`, on a store of the file that is opened for it. */
export async function recordSqlite(
  file: string,
  use: (store: Store) => Promise<unknown>,
): Promise<RanStatement[]> {
  const ran: RanStatement[] = [];
  const store = openSqliteStore(file);
  const connection = new Database(':memory:');
  const prototype: Statement = Object.getPrototypeOf(connection.prepare('SELECT 1'));
  const { run, get, all } = prototype;
  const record = (statement: Statement, values: unknown[]) => ran.push({ text: statement.source, values });
  const spies = [
    vi.spyOn(prototype, 'run').mockImplementation(function (this: Statement, ...values) {
      record(this, values);
      return run.apply(this, values);
    }),
    vi.spyOn(prototype, 'get').mockImplementation(function (this: Statement, ...values) {
      record(this, values);
      return get.apply(this, values);
    }),
    vi.spyOn(prototype, 'all').mockImplementation(function (this: Statement, ...values) {
      record(this, values);
      return all.apply(this, values);
    }),
  ];
  try {
    await use(store);
  } finally {
    for (const spy of spies) spy.mockRestore();
    connection.close();
    await store.close();
  }
  return ran;
}

/** How SQLite would run a statement: what it reads whole, and what it sorts. */
export function sqliteSteps(connection: Database.Database, { text, values }: RanStatement): ReadStep[] {
  return connection
    .prepare<unknown[], { detail: string }>(`EXPLAIN QUERY PLAN ${text}`)
    .all(...values)
    .map(({ detail }) => ({ detail, bad: isBad(detail, text) }));
}

/** Sorts of what is little by nature: agents, tasks of one session, tasks that are queued or run. */
const FEW = [
  /from "agents" where/,
  /from "tasks" where \("tasks"\."session_pk" = \? and/,
  /where \("tasks"\."status" IN \('queued', 'running'\) and "tasks"\."status" = \? and/,
];

/** Reads in the order of the keys that end with the first page: where all rows are of one tenant. */
const FIRST_PAGE =
  /where \(?"(sessions|tasks)"\."tenant" = \?.* order by "(sessions|tasks)"\."pk" desc limit \?$/;

function isBad(detail: string, text: string): boolean {
  // What is no table is a page of rows, read before.
  if (/^SCAN (sessions|messages|compactions|tasks|task_events|idempotency_keys)\b/.test(detail))
    return !FIRST_PAGE.test(text);
  if (/TEMP B-TREE/.test(detail)) return !FEW.some((few) => few.test(text));
  return /AUTOMATIC/.test(detail);
}
