import { once } from 'node:events';
import { createServer } from 'node:http';
import type { TestProject } from 'vitest/node';
import { migratePostgres } from '../../src/db/postgres/migrate.js';
import { POSTGRES_DEFAULTS } from '../../src/db/postgres/settings.js';
import { PostgresServer } from './postgres-server.js';

declare module 'vitest' {
  export interface ProvidedContext {
    /** Where to ask for the URL of the test run's PostgreSQL server. */
    postgres: string;
  }
}

/** The database that others are copied from: at the newest migration, and empty. */
export const TEMPLATE = 'template_migrated';

/** One PostgreSQL server for all tests of a run: it starts when the first asks for it, and ends with the run. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  let starting: Promise<PostgresServer> | null = null;
  const desk = createServer((_request, response) => {
    starting ??= start();
    starting.then(
      (server) => response.end(server.url()),
      (error: unknown) => response.writeHead(500).end(String(error)),
    );
  }).listen(0, '127.0.0.1');
  await once(desk, 'listening');
  const address = desk.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  project.provide('postgres', `http://127.0.0.1:${address.port}`);
  return async () => {
    desk.close();
    desk.closeAllConnections();
    if (starting !== null) await (await starting).remove();
  };
}

async function start(): Promise<PostgresServer> {
  const server = await PostgresServer.create();
  const { Client } = (await import('pg')).default;
  const client = new Client({ connectionString: server.url() });
  await client.connect();
  await client.query(`CREATE DATABASE ${TEMPLATE}`);
  await client.end();
  await migratePostgres(server.url(TEMPLATE), POSTGRES_DEFAULTS);
  return server;
}
