import type Database from 'better-sqlite3';
import { openReader, openWriter, withPatience } from '../../db/sqlite/connection.js';
import type { CopyConnection } from './connection.js';
import { type CopyTable, columnList, type Row, type Value } from './tables.js';

type Statement = Database.Statement<[Record<number, Value>], Row>;

/** @param path of a file that is there and migrated */
export function sqliteConnection(path: string, name: string, mode: 'read' | 'write'): CopyConnection {
  const connection = mode === 'read' ? openReader(path) : openWriter(path);
  const statements = new Map<string, Statement>();

  const prepared = (sql: string): Statement => {
    let statement = statements.get(sql);
    if (statement === undefined) {
      statement = connection.prepare<[Record<number, Value>], Row>(sql);
      if (statement.reader) statement.raw();
      statements.set(sql, statement);
    }
    return statement;
  };
  const query = async (sql: string, ...values: readonly Value[]): Promise<readonly Row[]> => {
    const statement = prepared(sql);
    if (statement.reader) return statement.all(numbered(values));
    statement.run(numbered(values));
    return [];
  };
  const keepsKeys = async ({ name: table }: CopyTable) => {
    const found = await query(
      `SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = $1 AND sql LIKE '%AUTOINCREMENT%'`,
      table,
    );
    return found.length > 0;
  };
  const givenOut = async ({ name: table }: CopyTable) => {
    const [row] = await query('SELECT max(seq) FROM sqlite_sequence WHERE name = $1', table);
    return Number(row?.[0] ?? 0);
  };

  return {
    name,
    nowMs: `CAST(unixepoch('now', 'subsec') * 1000 AS INTEGER)`,
    query,
    beginSnapshot: async () => {
      connection.exec('BEGIN');
    },
    begin: async () => {
      withPatience(() => connection.exec('BEGIN IMMEDIATE'));
    },
    commit: async () => {
      connection.exec('COMMIT');
    },
    rollback: async () => {
      if (connection.inTransaction) connection.exec('ROLLBACK');
    },
    hasTable: async (table) =>
      (await query(`SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = $1`, table)).length > 0,
    insert: async (table, rows) => {
      const places = table.columns.map((_, index) => `$${index + 1}`).join(', ');
      const insert = prepared(`INSERT INTO ${table.name} (${columnList(table)}) VALUES (${places})`);
      for (const row of rows) insert.run(numbered(row));
    },
    highestKey: givenOut,
    keepKeysAbove: async (table, key) => {
      // Tables without AUTOINCREMENT go on from their highest row, and mean to.
      if (!(await keepsKeys(table))) return;
      const above = Math.max(key, await givenOut(table));
      await query('DELETE FROM sqlite_sequence WHERE name = $1', table.name);
      // The driver binds reals, and this table takes what it is given.
      await query(
        'INSERT INTO sqlite_sequence (name, seq) VALUES ($1, CAST($2 AS INTEGER))',
        table.name,
        above,
      );
    },
    analyze: async () => {
      connection.pragma('optimize');
    },
    close: async () => {
      connection.close();
    },
  };
}

/** SQLite's driver knows `$1` by its name. */
function numbered(values: readonly Value[]): Record<number, Value> {
  return Object.fromEntries(values.map((value, index) => [index + 1, value]));
}
