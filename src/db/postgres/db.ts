import { type SQLWrapper, sql } from 'drizzle-orm';
import { type NodePgClient, NodePgSession } from 'drizzle-orm/node-postgres';
import { PgDatabase, PgDialect, type PgPreparedQuery, type PreparedQueryConfig } from 'drizzle-orm/pg-core';
import { tables } from '../schema.postgres.js';
import type { Db } from '../store.js';
import type { Queryable } from './queries.js';

/** Drizzle's session, but for its habit of putting statement and values into the message of every error. */
class PlainSession extends NodePgSession<Record<string, never>, Record<string, never>> {
  override prepareQuery<T extends PreparedQueryConfig = PreparedQueryConfig>(
    ...args: Parameters<NodePgSession<Record<string, never>, Record<string, never>>['prepareQuery']>
  ): PgPreparedQuery<T> {
    const queryWithCache = (_text: string, _values: unknown[], run: () => Promise<unknown>) => run();
    return Object.assign(super.prepareQuery<T>(...args), { queryWithCache });
  }
}

/** What a select of this dialect has that the common builders have not. */
interface Lockable {
  for(strength: 'no key update', config?: { skipLocked: true }): unknown;
}

/**
 * Wraps a pool or a connection for the repositories. The casts are the places where this dialect's builders and the
 * common types meet.
 *
 * @param locks whether reads may lock rows: in a writing transaction
 */
export function asDb(runner: Queryable, locks: boolean): Db {
  const dialect = new PgDialect();
  const session = new PlainSession(runner as unknown as NodePgClient, dialect, undefined);
  return {
    orm: new PgDatabase(dialect, session, undefined) as unknown as Db['orm'],
    tables,
    // Of the statement, not of the transaction, which may have waited; and stable, so that indexes can be used.
    nowMs: sql<number>`(extract(epoch from statement_timestamp()) * 1000)::bigint`,
    byteLength: (column: SQLWrapper) => sql<number>`octet_length(${column})`,
    // As text: bytes would travel as hexadecimal digits.
    joinedUtf8: (column: SQLWrapper, order: SQLWrapper) =>
      sql<Buffer | null>`string_agg(${column}, ',' ORDER BY ${order})`.mapWith(toBuffer),
    locked: (query) => {
      if (locks) (query as unknown as Lockable).for('no key update');
      return query;
    },
    lockedUnlessTaken: (query) => {
      if (locks) (query as unknown as Lockable).for('no key update', { skipLocked: true });
      return query;
    },
    lock: async (name) => {
      if (locks)
        await runner.query({ text: 'SELECT pg_advisory_xact_lock(hashtextextended($1, 0))' }, [name]);
    },
  };
}

function toBuffer(text: unknown): Buffer {
  return Buffer.from(String(text));
}
