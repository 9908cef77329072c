import { join } from 'node:path';
import Database from 'better-sqlite3';
import { getTableName, type SQL } from 'drizzle-orm';
import { PgDialect, type PgTable, getTableConfig as postgresConfig } from 'drizzle-orm/pg-core';
import { SQLiteSyncDialect, getTableConfig as sqliteConfig } from 'drizzle-orm/sqlite-core';
import { describe, expect, expectTypeOf, it } from 'vitest';
import * as postgresColumns from '../../src/db/columns.postgres.js';
import * as sqliteColumns from '../../src/db/columns.sqlite.js';
import { tables as postgresTables } from '../../src/db/schema.postgres.js';
import { tables as sqliteTables } from '../../src/db/schema.sqlite.js';
import { openSqliteStore } from '../../src/db/store.sqlite.js';
import { freshDatabase } from '../support/postgres.js';
import { temporaryFolder } from '../support/service.js';
import { postgresSql } from '../support/sql.js';

type TableKey = keyof typeof sqliteTables;
const KEYS = Object.keys(sqliteTables) as TableKey[];

/** A table with each kind of column, as the tables use them. */
const inSqlite = sqliteColumns.table('t', {
  pk: sqliteColumns.serialKey(),
  text: sqliteColumns.str(),
  word: sqliteColumns.str({ enum: ['a', 'b'] }).notNull(),
  count: sqliteColumns.int().notNull().default(0),
  share: sqliteColumns.float().notNull().default(50),
  at: sqliteColumns.epochMs(),
});
const inPostgres = postgresColumns.table('t', {
  pk: postgresColumns.serialKey(),
  text: postgresColumns.str(),
  word: postgresColumns.str({ enum: ['a', 'b'] }).notNull(),
  count: postgresColumns.int().notNull().default(0),
  share: postgresColumns.float().notNull().default(50),
  at: postgresColumns.epochMs(),
});

const defaultOf = (column: { default: unknown }) => column.default ?? null;

/** What is to be equal of one dialect's table. */
function shapeOf(
  config: ReturnType<typeof sqliteConfig> | ReturnType<typeof postgresConfig>,
  text: (where: SQL) => string,
) {
  const columnNames = (columns: readonly object[]) => columns.map((each) => Reflect.get(each, 'name'));
  return {
    name: config.name,
    columns: config.columns.map((column) => ({
      name: column.name,
      type: column.dataType,
      notNull: column.notNull,
      primary: column.primary,
      default: defaultOf(column),
      values: column.enumValues ?? null,
    })),
    indexes: config.indexes.map(({ config: { name, unique, columns, where } }) => ({
      name,
      unique,
      columns: columnNames(columns),
      where: where === undefined ? null : text(where),
    })),
    foreignKeys: config.foreignKeys.map((key) => {
      const { columns, foreignTable, foreignColumns } = key.reference();
      const to = { table: getTableName(foreignTable), columns: columnNames(foreignColumns) };
      return { columns: columnNames(columns), to, onDelete: key.onDelete };
    }),
  };
}

describe('the tables of both dialects', () => {
  it('hold values of the same types', () => {
    expectTypeOf<typeof inPostgres.$inferSelect>().toEqualTypeOf<typeof inSqlite.$inferSelect>();
    expectTypeOf<typeof inPostgres.$inferInsert>().toEqualTypeOf<typeof inSqlite.$inferInsert>();
    expectTypeOf<keyof typeof postgresColumns>().toEqualTypeOf<keyof typeof sqliteColumns>();
    expect(Object.keys(postgresColumns).sort()).toEqual(Object.keys(sqliteColumns).sort());
  });

  it.each(KEYS)('have the same columns, indexes and foreign keys: %s', (key) => {
    // At run time these are PostgreSQL's; their type is the common one.
    const postgres = postgresConfig(postgresTables[key] as unknown as PgTable);
    const postgresText = (where: SQL) => new PgDialect().sqlToQuery(where).sql;
    const sqliteText = (where: SQL) => new SQLiteSyncDialect().sqlToQuery(where).sql;
    expect(shapeOf(postgres, postgresText)).toEqual(shapeOf(sqliteConfig(sqliteTables[key]), sqliteText));
  });

  it('come out of the migrations with the same columns and indexes', async () => {
    const file = join(temporaryFolder(), 'parity.db');
    await openSqliteStore(file).close();
    const sqlite = new Database(file, { readonly: true });
    const url = await freshDatabase();
    for (const name of KEYS) {
      const columns = sqlite
        .prepare(
          'SELECT name, CASE WHEN "notnull" OR pk THEN 0 ELSE 1 END AS nullable, dflt_value FROM pragma_table_info(?) ORDER BY name',
        )
        .all(name);
      const inServer = postgresSql(
        url,
        `SELECT column_name AS name, CASE is_nullable WHEN 'YES' THEN 1 ELSE 0 END AS nullable,
           CASE WHEN is_identity = 'YES' THEN NULL ELSE column_default END AS dflt_value
         FROM information_schema.columns WHERE table_schema = 'public' AND table_name = ? ORDER BY column_name`,
        [name],
      );
      expect(inServer).toEqual(columns);
      const indexes = sqlite
        .prepare("SELECT name FROM pragma_index_list(?) WHERE origin = 'c' ORDER BY name")
        .all(name);
      const there = postgresSql(
        url,
        "SELECT indexname AS name FROM pg_indexes WHERE tablename = ? AND indexname NOT LIKE '%_pkey' ORDER BY indexname",
        [name],
      );
      expect(there).toEqual(indexes);
    }
    sqlite.close();
  });
});
