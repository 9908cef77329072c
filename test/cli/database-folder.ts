import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { FastifyInstance } from 'fastify';
import { pino } from 'pino';
import type { TestContext } from 'vitest';
import { loadConfig } from '../../src/config.js';
import { createApp } from '../../src/create-app.js';

export interface DatabaseFolder {
  readonly databaseUrl: string;
  /** The service on that database, in this process. */
  readonly app: FastifyInstance;
  /** Writes a file next to the database, and gives its path. */
  write(name: string, text: string): Promise<string>;
  /** GET, as text. */
  read(path: string): Promise<string>;
}

/** A folder with a database that a service has open, gone when the test is. */
export async function databaseFolder({ onTestFinished }: TestContext): Promise<DatabaseFolder> {
  const folder = await mkdtemp(join(tmpdir(), 'compactd-cli-'));
  const databaseUrl = `file:${join(folder, 'test.db')}`;
  const app = await createApp(loadConfig({ DATABASE_URL: databaseUrl }), pino({ level: 'silent' }));
  onTestFinished(async () => {
    await app.close();
    await rm(folder, { recursive: true, force: true });
  });
  return {
    databaseUrl,
    app,
    write: async (name, text) => {
      await writeFile(join(folder, name), text);
      return join(folder, name);
    },
    read: async (path) => (await app.inject({ method: 'GET', url: path })).body,
  };
}

export interface ReadSession {
  readonly id: string;
  readonly title: string | null;
  readonly message_count: number;
}

/** All sessions, in the order of their ids. */
export async function sessionsOf({ app }: DatabaseFolder): Promise<ReadSession[]> {
  const response = await app.inject({ method: 'GET', url: '/sessions?limit=200' });
  const { data } = response.json<{ data: ReadSession[] }>();
  return data.sort((a, b) => (a.id < b.id ? -1 : 1));
}
