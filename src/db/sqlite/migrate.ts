import { BOOKKEEPING, type Migration, missingMigrations, readMigrations } from '../migrations.js';
import { backUp } from './backup.js';
import { type Connection, withPatience } from './connection.js';

/**
 * Brings the database to the newest schema, or throws and leaves it as it was. Own code around drizzle's
 * files, since its migrator applies only what is newer than the last applied one (a migration merged late is
 * skipped in silence), takes no lock, and lets a table rebuild cascade into the child rows. A database that has
 * something in it is copied beside itself first.
 *
 * @returns the number of migrations that were applied
 */
export function migrate(connection: Connection, folder: string): number {
  const migrations = readMigrations(folder);
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

function applyMissing(connection: Connection, migrations: readonly Migration[]): number {
  connection.exec(
    `CREATE TABLE IF NOT EXISTS ${BOOKKEEPING} (id SERIAL PRIMARY KEY, hash text NOT NULL, created_at numeric)`,
  );
  const recorded = appliedTimes(connection);
  const missing = missingMigrations(migrations, recorded);
  const first = missing[0];
  if (first !== undefined && recorded.length > 0) backUp(connection, first.tag);
  const record = connection.prepare(`INSERT INTO ${BOOKKEEPING} (hash, created_at) VALUES (?, ?)`);
  for (const migration of missing) {
    for (const statement of migration.sql) {
      if (!addsColumnThatExists(connection, statement)) connection.exec(statement);
    }
    record.run(migration.hash, migration.folderMillis);
  }
  return missing.length;
}

/** Times of the making of the migrations that the database has had. */
export function appliedTimes(connection: Connection): number[] {
  const there = connection.prepare("SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = ?");
  if (there.get(BOOKKEEPING) === undefined) return [];
  return connection
    .prepare<[], { created_at: number }>(`SELECT created_at FROM ${BOOKKEEPING}`)
    .all()
    .map(({ created_at }) => Number(created_at));
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
