import { fileURLToPath } from 'node:url';
import { type MigrationMeta, readMigrationFiles } from 'drizzle-orm/migrator';
import { type Connection, withPatience } from './connection.js';

const BOOKKEEPING = '__drizzle_migrations';

/**
 * Brings the database to the newest schema, or throws and leaves it as it was. Own code around drizzle's
 * files, since its migrator applies only what is newer than the last applied one (a migration merged late is
 * skipped in silence), takes no lock, and lets a table rebuild cascade into the child rows.
 *
 * @returns the number of migrations that were applied
 */
export function migrate(connection: Connection, folder: string): number {
  const migrations = readMigrationFiles({ migrationsFolder: folder });
  // No effect inside a transaction, and with it on, DROP TABLE in a rebuild would delete the child rows.
  connection.pragma('foreign_keys = OFF');
  try {
    // Several processes may start on one file: one migrates, the others wait, then find nothing to do.
    withPatience(() => connection.exec('BEGIN IMMEDIATE'));
    try {
      const applied = applyMissing(connection, migrations);
      if (applied > 0) repairAdoptedColumns(connection);
      const broken = connection.pragma('foreign_key_check');
      if (Array.isArray(broken) && broken.length > 0) {
        throw new Error(`migration would leave ${broken.length} rows without their parents`);
      }
      connection.exec('COMMIT');
      return applied;
    } catch (error) {
      if (connection.inTransaction) connection.exec('ROLLBACK');
      throw error;
    }
  } finally {
    connection.pragma('foreign_keys = ON');
  }
}

function applyMissing(connection: Connection, migrations: readonly MigrationMeta[]): number {
  connection.exec(
    `CREATE TABLE IF NOT EXISTS ${BOOKKEEPING} (id SERIAL PRIMARY KEY, hash text NOT NULL, created_at numeric)`,
  );
  const recorded = connection
    .prepare<[], { hash: string; created_at: number }>(`SELECT hash, created_at FROM ${BOOKKEEPING}`)
    .all();
  const newest = Math.max(0, ...migrations.map((migration) => migration.folderMillis));
  if (recorded.some((row) => Number(row.created_at) > newest)) {
    throw new Error('the database was made by a newer version of compactd; start that version instead');
  }
  const known = new Set(recorded.map((row) => Number(row.created_at)));
  const missing = migrations.filter((migration) => !known.has(migration.folderMillis));
  const record = connection.prepare(`INSERT INTO ${BOOKKEEPING} (hash, created_at) VALUES (?, ?)`);
  for (const migration of missing) {
    for (const statement of migration.sql) {
      if (!addsColumnThatExists(connection, statement)) connection.exec(statement);
    }
    record.run(migration.hash, migration.folderMillis);
  }
  return missing.length;
}

/** Databases exist that got some of the compaction columns by hand: those are adopted, not added again. */
function addsColumnThatExists(connection: Connection, statement: string): boolean {
  const match = /^\s*ALTER TABLE `(\w+)` ADD `(\w+)`/.exec(statement);
  if (match === null) return false;
  return (
    connection
      .prepare<[string, string], unknown>('SELECT 1 FROM pragma_table_info(?) WHERE name = ?')
      .get(match[1] ?? '', match[2] ?? '') !== undefined
  );
}

/** An adopted column may lack migration 2's NOT NULL and default, and hold null. */
function repairAdoptedColumns(connection: Connection): void {
  connection.exec('UPDATE sessions SET compact_size = 0 WHERE compact_size IS NULL');
  connection.exec('UPDATE sessions SET compact_count = 50 WHERE compact_count IS NULL');
}

/** Where the generated migrations are; the same step up from `src/` and from the compiled `dist/`. */
export function migrationsFolder(): string {
  return fileURLToPath(new URL('../../../drizzle/sqlite', import.meta.url));
}
