import { createHash } from 'node:crypto';
import pg from 'pg';
import { asStoreError } from './store-error.js';

type Query = pg.QueryConfig & { readonly rowMode?: 'array' };

/** A pool or a connection. */
export interface Queryable {
  query(config: Query, values?: unknown[]): Promise<pg.QueryResult>;
}

/** Integers of 64 bits and sums of them come as numbers: what is stored stays below 2^53. */
const NUMBER_TYPES: readonly number[] = [pg.types.builtins.INT8, pg.types.builtins.NUMERIC];

const types: pg.CustomTypesConfig = {
  getTypeParser: (oid, format) =>
    NUMBER_TYPES.includes(oid) ? Number : pg.types.getTypeParser(oid, format ?? 'text'),
};

/** Statements get a name up to this many: what is built anew for each request must not fill the server's memory. */
const MAX_NAMES = 500;
const names = new Map<string, string>();

/**
 * The name under which a connection keeps a statement parsed and planned. It is made of the text alone, so that it
 * stands for the same statement in every process: poolers that know named statements share them.
 */
function nameOf(text: string): string | undefined {
  let name = names.get(text);
  if (name === undefined && names.size < MAX_NAMES) {
    name = `c_${createHash('sha256').update(text).digest('hex').slice(0, 24)}`;
    names.set(text, name);
  }
  return name;
}

/** Runs drizzle's queries: named, with numbers as numbers, and with the store's errors. */
export function runner(target: Queryable, named: boolean): Queryable {
  return {
    async query({ text, rowMode }, values) {
      const name = named ? nameOf(text) : undefined;
      const config = { text, types, ...(name && { name }), ...(rowMode && { rowMode }) };
      try {
        return await target.query(config, values);
      } catch (error) {
        throw asStoreError(error);
      }
    },
  };
}
