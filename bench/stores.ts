import Database from 'better-sqlite3';
import pg from 'pg';
import type { Store } from '../src/db/store.js';
import type { Benchmark } from './lib/benchmark.js';
import { built } from './lib/built.js';
import { withPostgres } from './lib/postgres.js';
import { rawPostgres, rawSqlite } from './lib/raw-stores.js';
import { type ReportRow, ratioAtLeast } from './lib/report.js';
import { interleaved } from './lib/statistics.js';
import { fillStore, storeWork, type Work } from './lib/store-work.js';

/** Many short rounds: what else the machine does then hits both sides alike. */
const ROUNDS = 11;
const LEAST = 0.7;
/** Operations at a time: one after another, and as many as a pool has connections. */
const AT_ONCE = [1, 10] as const;
const OPERATIONS = { append: 60, context: 60, plan: 60 } as const;
type Kind = keyof typeof OPERATIONS;

/** Append, context and plan in process on both stores, each beside its bare driver doing the same statements. */
export const stores: Benchmark = {
  name: 'stores',
  run: (workspace) =>
    withPostgres(async (url) => {
      const { openPostgresStore } =
        await built<typeof import('../src/db/store.postgres.js')>('db/store.postgres.js');
      const { openSqliteStore } =
        await built<typeof import('../src/db/store.sqlite.js')>('db/store.sqlite.js');
      const { POSTGRES_DEFAULTS } =
        await built<typeof import('../src/db/postgres/settings.js')>('db/postgres/settings.js');
      const path = workspace.emptyDatabase();
      const pool = new pg.Pool({ connectionString: url, max: POSTGRES_DEFAULTS.poolSize });
      pool.on('error', () => {});
      const sqlite = openSqliteStore(path);
      const postgres = openPostgresStore(url, POSTGRES_DEFAULTS, () => {});
      const connection = new Database(path);
      try {
        for (const store of [sqlite, postgres]) await fillStore(store);
        await pool.query('ANALYZE');
        return [
          ...(await compare(
            'SQLite',
            sqlite,
            await rawSqlite(connection, await storeWork(sqlite)),
            'better-sqlite3',
          )),
          ...(await compare(
            'PostgreSQL',
            postgres,
            await rawPostgres(pool, await storeWork(postgres)),
            'pg',
          )),
        ];
      } finally {
        connection.close();
        await Promise.all([sqlite.close(), postgres.close(), pool.end()]);
      }
    }),
};

async function compare(name: string, store: Store, raw: Work, driver: string): Promise<ReportRow[]> {
  const work = await storeWork(store);
  const kinds = Object.keys(OPERATIONS).filter((kind): kind is Kind => kind in OPERATIONS);
  const cases: Record<string, () => Promise<number>> = {};
  for (const kind of kinds) {
    for (const atOnce of AT_ONCE) {
      cases[`${kind} ${atOnce} store`] = () => rate(work[kind], OPERATIONS[kind], atOnce);
      cases[`${kind} ${atOnce} raw`] = () => rate(raw[kind], OPERATIONS[kind], atOnce);
    }
  }
  for (const once of Object.values(cases)) await once();
  const rates = await interleaved(ROUNDS, cases);
  return kinds.flatMap((kind) =>
    AT_ONCE.map((atOnce) => {
      const ours = rates[`${kind} ${atOnce} store`] ?? 0;
      const theirs = rates[`${kind} ${atOnce} raw`] ?? Number.NaN;
      const measured = `${Math.round(ours)}/s : ${Math.round(theirs)}/s`;
      return ratioAtLeast(`${name}, ${kind}, ${atOnce} at once : ${driver}`, measured, ours / theirs, LEAST);
    }),
  );
}

/** Operations per second, `atOnce` of them under way at any time. */
async function rate(work: () => Promise<unknown>, count: number, atOnce: number): Promise<number> {
  let left = count;
  const started = performance.now();
  await Promise.all(
    Array.from({ length: atOnce }, async () => {
      while (left-- > 0) await work();
    }),
  );
  return (count * 1_000) / (performance.now() - started);
}
