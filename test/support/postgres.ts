import { createHash, randomBytes } from 'node:crypto';
import pg from 'pg';
import { inject, onTestFinished } from 'vitest';
import { TEMPLATE } from './postgres-setup.js';

let server: Promise<string> | null = null;

/** URL of the test run's server, started when it is first asked for. */
function serverUrl(): Promise<string> {
  server ??= (async () => {
    const response = await fetch(inject('postgres'));
    const text = await response.text();
    if (!response.ok) throw new Error(`PostgreSQL did not start: ${text}`);
    return text;
  })();
  return server;
}

/** Runs statements as the server's owner, outside of every test's database. */
export async function administer(...statements: string[]): Promise<void> {
  const client = new pg.Client({ connectionString: await serverUrl() });
  await client.connect();
  try {
    for (const statement of statements) await client.query(statement);
  } finally {
    await client.end();
  }
}

/** A database of its own for a test, at the newest migration or else without a table; it is dropped with the test. */
export async function freshDatabase(state: 'migrated' | 'empty' = 'migrated'): Promise<string> {
  const name = `test_${randomBytes(8).toString('hex')}`;
  onTestFinished(() => administer(`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`));
  return createDatabase(name, state);
}

const databases = new Map<string, Promise<string>>();

/** The database that stands for a SQLite file, where tests that name files run on PostgreSQL. */
export function databaseOf(file: string): Promise<string> {
  let database = databases.get(file);
  if (database === undefined) {
    database = createDatabase(nameOf(file), 'migrated');
    databases.set(file, database);
  }
  return database;
}

/** Drops what stands for the SQLite files of a folder. */
export async function dropDatabasesIn(folder: string): Promise<void> {
  for (const file of databases.keys()) {
    if (!file.startsWith(folder)) continue;
    databases.delete(file);
    await administer(`DROP DATABASE IF EXISTS ${nameOf(file)} WITH (FORCE)`);
  }
}

function nameOf(file: string): string {
  return `file_${createHash('sha256').update(file).digest('hex').slice(0, 24)}`;
}

async function createDatabase(name: string, state: 'migrated' | 'empty'): Promise<string> {
  const template = state === 'migrated' ? TEMPLATE : 'template0';
  await administer(`CREATE DATABASE ${name} TEMPLATE ${template}`);
  const url = new URL(await serverUrl());
  url.pathname = `/${name}`;
  return url.href;
}
