import { cpSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { drizzle } from 'drizzle-orm/better-sqlite3';
import { migrate } from 'drizzle-orm/better-sqlite3/migrator';
import { migrationsFolder } from '../../src/db/migrations.js';
import { temporaryFolder } from './service.js';

/** A SQLite file as the first migration leaves it, made by drizzle's own migrator; without a row. */
export function fileOfFirstMigration(): string {
  const folder = join(temporaryFolder(), 'sqlite');
  cpSync(migrationsFolder('sqlite'), folder, { recursive: true });
  const journal = join(folder, 'meta/_journal.json');
  const content: { entries: unknown[] } = JSON.parse(readFileSync(journal, 'utf8'));
  writeFileSync(journal, JSON.stringify({ ...content, entries: content.entries.slice(0, 1) }));
  const file = join(temporaryFolder(), 'old.db');
  const connection = new Database(file);
  migrate(drizzle(connection), { migrationsFolder: folder });
  connection.close();
  return file;
}
