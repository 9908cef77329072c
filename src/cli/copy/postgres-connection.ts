import pg from 'pg';
import { clientConfig } from '../../db/postgres/connections.js';
import { runner } from '../../db/postgres/queries.js';
import type { PostgresSettings } from '../../db/postgres/settings.js';
import { asStoreError } from '../../db/postgres/store-error.js';
import { type CopyConnection, CopyRefused } from './connection.js';
import { COPY_TABLES, type CopyTable, columnList, type Row, type Value } from './tables.js';

/** How long one statement may take, in ms: counting the rows of a very large table is the longest. */
const ANSWER_MS = 30 * 60_000;
/** Limits that are made for requests; they end with the transaction, so that poolers need not know them. */
const UNLIMITED = 'SET LOCAL statement_timeout = 0; SET LOCAL idle_in_transaction_session_timeout = 0';

/** @param url of a database that is migrated */
export async function postgresConnection(
  url: string,
  name: string,
  settings: PostgresSettings,
): Promise<CopyConnection> {
  const client = new pg.Client({
    ...clientConfig(url, { ...settings, statementTimeoutMs: 0, idleTransactionTimeoutMs: 0 }),
    query_timeout: ANSWER_MS,
  });
  client.on('error', () => {});
  try {
    await client.connect();
  } catch (error) {
    throw asStoreError(error);
  }
  const queries = runner(client, false);
  const query = async (text: string, ...values: readonly Value[]): Promise<readonly Row[]> =>
    (await queries.query({ text, rowMode: 'array' }, [...values])).rows;
  /** Several statements at once, which take no values. */
  const run = async (text: string) => {
    await queries.query({ text });
  };
  const sequence = `pg_get_serial_sequence($1, 'pk')::regclass`;
  const givenOut = async ({ name: table }: CopyTable) => {
    const [row] = await query(`SELECT pg_sequence_last_value(${sequence})`, table);
    return Number(row?.[0] ?? 0);
  };

  return {
    name,
    nowMs: '(extract(epoch from statement_timestamp()) * 1000)',
    query,
    beginSnapshot: () => run(`BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY; ${UNLIMITED}`),
    begin: () => run(`BEGIN ISOLATION LEVEL READ COMMITTED; ${UNLIMITED}`),
    commit: () => run('COMMIT'),
    rollback: () => run('ROLLBACK'),
    hasTable: async (table) => (await query('SELECT 1 WHERE to_regclass($1) IS NOT NULL', table)).length > 0,
    insert: async (table, rows) => {
      const columns = columnList(table);
      const objects = rows.map((row) =>
        Object.fromEntries(table.columns.map((column, index) => [column.name, row[index]])),
      );
      const insert = `INSERT INTO ${table.name} (${columns})
        SELECT ${columns} FROM json_populate_recordset(NULL::${table.name}, $1::json)`;
      try {
        await query(insert, JSON.stringify(objects));
      } catch (error) {
        throw nulIn(table, rows) ?? error;
      }
    },
    highestKey: givenOut,
    keepKeysAbove: async (table, key) => {
      const above = Math.max(key, await givenOut(table));
      // A sequence that has given out nothing cannot stand at 0.
      if (above > 0) await query(`SELECT setval(${sequence}, $2::bigint)`, table.name, above);
    },
    analyze: async () => {
      // VACUUM too: index-only scans look at the rows themselves until it has been there.
      for (const { name: table } of COPY_TABLES) await run(`VACUUM (ANALYZE) ${table}`);
    },
    close: () => client.end(),
  };
}

/** What PostgreSQL cannot store, named: SQLite takes it, and has it from times or hands that did not look. */
function nulIn(table: CopyTable, rows: readonly Row[]): CopyRefused | null {
  for (const row of rows) {
    for (const [index, { name }] of table.columns.entries()) {
      const value = row[index];
      if (typeof value !== 'string' || !value.includes('\0')) continue;
      return new CopyRefused(
        `The row of ${table.name} with key ${row[0]} holds the character U+0000 in ${name}, which PostgreSQL does not ` +
          'store. Take it out of the source, and run the copy again.',
      );
    }
  }
  return null;
}
