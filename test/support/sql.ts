import { MessageChannel, receiveMessageOnPort, Worker } from 'node:worker_threads';
import Database from 'better-sqlite3';

const PATIENCE_MS = 20_000;

/** Runs SQL on a connection of its own to a SQLite file. */
export function sqliteSql(file: string, statement: string, params: readonly unknown[]): unknown[] {
  const connection = new Database(file);
  try {
    const prepared = connection.prepare(statement);
    if (prepared.reader) return prepared.all(...params);
    prepared.run(...params);
    return [];
  } finally {
    connection.close();
  }
}

let worker: Worker | null = null;

/**
 * The same on PostgreSQL, with `?` for parameters. A thread does it while this one waits: tests look at rows as at
 * any other value.
 */
export function postgresSql(url: string, statement: string, params: readonly unknown[]): unknown[] {
  if (worker === null) {
    worker = new Worker(new URL('./sql-worker.mjs', import.meta.url));
    worker.unref();
  }
  const { port1, port2 } = new MessageChannel();
  const done = new Int32Array(new SharedArrayBuffer(4));
  worker.postMessage({ url, text: numbered(statement), values: params, done, port: port2 }, [port2]);
  if (Atomics.wait(done, 0, 0, PATIENCE_MS) === 'timed-out') throw new Error('PostgreSQL does not answer');
  const answer: { rows?: unknown[]; error?: string } = receiveMessageOnPort(port1)?.message ?? {};
  port1.close();
  if (answer.error !== undefined) throw new Error(answer.error);
  return answer.rows ?? [];
}

/** On a connection of its own to whatever a DATABASE_URL names. */
export function sqlAt(url: string, statement: string, ...params: unknown[]): unknown[] {
  return url.startsWith('file:')
    ? sqliteSql(url.slice('file:'.length), statement, params)
    : postgresSql(url, statement, params);
}

/** `?` outside of quotes becomes `$1`, `$2` and so on. */
function numbered(statement: string): string {
  let count = 0;
  return statement.replace(/'(?:[^']|'')*'|\?/g, (found) => (found === '?' ? `$${++count}` : found));
}
