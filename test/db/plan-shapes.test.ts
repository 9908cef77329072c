import { join } from 'node:path';
import Database from 'better-sqlite3';
import pg from 'pg';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { Store } from '../../src/db/store.js';
import { freshDatabase } from '../support/postgres.js';
import { temporaryFolder } from '../support/service.js';
import { planData } from './plan-data.js';
import { loadPostgres, postgresSteps, recordPostgres } from './plan-postgres.js';
import { loadSqlite, recordSqlite, setStatistics, sqliteSteps } from './plan-sqlite.js';
import { type Looked, lookAt, type RanStatement } from './plan-steps.js';
import { HOT_USES } from './plan-uses.js';

/** `npm run plans` looks at a million; the shapes show with fewer, which load within seconds. */
const DATA = planData(Number(process.env['PLAN_ROWS'] ?? 50_000));
const FULL_SIZE = 1_000_000;
const TIMEOUT_MS = 300_000;
/** The long session behind its summary, a short one that has none, a short one that has. */
const SESSIONS = [1, 4, 5];

type Recorder = (use: (store: Store) => Promise<unknown>) => Promise<RanStatement[]>;

/** What every hot use runs, by the name of the use. */
async function recordAll(record: Recorder): Promise<Map<string, RanStatement[]>> {
  const ran = new Map<string, RanStatement[]>();
  for (const [name, use] of Object.entries(HOT_USES)) {
    const statements = await record(async (store) => {
      for (const pk of SESSIONS) await use(store, pk);
    });
    ran.set(name, statements);
  }
  return ran;
}

/** Of each use, the number of statements looked at; and what is wrong with any of them. */
function expectGood(looked: readonly Looked[]): void {
  expect(looked.flatMap(({ bad }) => bad)).toEqual([]);
  expect(looked.filter(({ statements }) => statements === 0)).toEqual([]);
  expect(looked.map(({ use }) => use)).toEqual(Object.keys(HOT_USES));
}

describe(`each hot path, on ${DATA.messages} messages in ${DATA.sessions} sessions`, () => {
  it('goes by indexes on SQLite, with statistics and without', { timeout: TIMEOUT_MS }, async () => {
    const file = join(temporaryFolder(), 'plans.db');
    await loadSqlite(file, DATA);
    const ran = await recordAll((use) => recordSqlite(file, use));
    for (const known of [false, true]) {
      setStatistics(file, known);
      const connection = new Database(file, { readonly: true });
      onTestFinished(() => void connection.close());
      expectGood(await lookAt(ran, async (statement) => sqliteSteps(connection, statement)));
    }
  });

  it('goes by indexes on PostgreSQL, planned for its values and for any', {
    timeout: TIMEOUT_MS,
  }, async () => {
    const url = await freshDatabase();
    const client = new pg.Client({ connectionString: url });
    await client.connect();
    onTestFinished(() => client.end());
    await loadPostgres(client, DATA);
    const ran = await recordAll((use) => recordPostgres(url, use));
    const seqScans = DATA.messages >= FULL_SIZE;
    for (const generic of [false, true])
      expectGood(await lookAt(ran, (statement) => postgresSteps(client, statement, { generic, seqScans })));
  });
});
