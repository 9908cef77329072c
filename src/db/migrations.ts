import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type MigrationMeta, readMigrationFiles } from 'drizzle-orm/migrator';

/** The table in which a database says which migrations it has had; each by the time of its making. */
export const BOOKKEEPING = '__drizzle_migrations';

export interface Migration extends MigrationMeta {
  /** `0000_name`. */
  readonly tag: string;
}

export interface MigrationStatus {
  readonly applied: readonly Migration[];
  readonly missing: readonly Migration[];
}

/** The database and this program do not fit; the message says what to do. */
export class SchemaMismatch extends Error {
  override readonly name = 'SchemaMismatch';
}

/** Where a dialect's generated migrations are; the same steps up from `src/` and from the compiled `dist/`. */
export function migrationsFolder(dialect: 'sqlite' | 'postgresql'): string {
  return fileURLToPath(new URL(`../../drizzle/${dialect}`, import.meta.url));
}

/** The migrations of a folder, oldest first. */
export function readMigrations(folder: string): Migration[] {
  const journal: { entries: { tag: string }[] } = JSON.parse(
    readFileSync(join(folder, 'meta/_journal.json'), 'utf8'),
  );
  return readMigrationFiles({ migrationsFolder: folder }).map((migration, index) => ({
    ...migration,
    tag: journal.entries[index]?.tag ?? '',
  }));
}

/**
 * Those that a database has not had, wherever they stand among the others: one that was merged late is not skipped.
 * Throws SchemaMismatch when it has had one that is not known here.
 *
 * @param applied times of the making of those it has had
 */
export function missingMigrations(
  migrations: readonly Migration[],
  applied: readonly number[],
): readonly Migration[] {
  const newest = Math.max(0, ...migrations.map(({ folderMillis }) => folderMillis));
  if (applied.some((time) => time > newest)) {
    throw new SchemaMismatch(
      'the database was made by a newer version of compactd; start that version instead',
    );
  }
  const known = new Set(applied);
  return migrations.filter(({ folderMillis }) => !known.has(folderMillis));
}

/** @param times as in `missingMigrations` */
export function statusOf(migrations: readonly Migration[], times: readonly number[]): MigrationStatus {
  const missing = missingMigrations(migrations, times);
  return { applied: migrations.filter((migration) => !missing.includes(migration)), missing };
}
