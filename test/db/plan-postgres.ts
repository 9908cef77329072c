import pg from 'pg';
import { vi } from 'vitest';
import { POSTGRES_DEFAULTS } from '../../src/db/postgres/settings.js';
import type { Store } from '../../src/db/store.js';
import { openPostgresStore } from '../../src/db/store.postgres.js';
import { type PlanData, planStatements } from './plan-data.js';
import type { RanStatement, ReadStep } from './plan-steps.js';

/** Agents are few, so that reading all of them is right. */
const SMALL = 'agents';
/** Rows that one step may read, pass over or sort: a page and what is beside it. */
const MOST_ROWS = 600;
/** Pages of the database, of 8 KiB, that one statement may touch: four for each row of a page of messages. */
const MOST_PAGES = 2_000;

/** Fills an empty, migrated database. References are not checked, which takes most of the time. */
export async function loadPostgres(client: pg.Client, data: PlanData): Promise<void> {
  const series = (count: number) => `generate_series(0, ${count - 1}) AS n(i)`;
  await client.query('SET session_replication_role = replica');
  for (const statement of planStatements(data, series, Date.now())) await client.query(statement);
  await client.query('SET session_replication_role = origin');
  for (const table of ['sessions', 'tasks'])
    await client.query(`SELECT setval(pg_get_serial_sequence('${table}', 'pk'), max(pk)) FROM ${table}`);
  await client.query('ANALYZE');
}

/** What statements run within `use`, on a store of the database that is opened for it. */
export async function recordPostgres(
  url: string,
  use: (store: Store) => Promise<unknown>,
): Promise<RanStatement[]> {
  const ran: RanStatement[] = [];
  const { query } = pg.Client.prototype;
  const spy = vi.spyOn(pg.Client.prototype, 'query').mockImplementation(function (
    this: pg.Client,
    ...args: unknown[]
  ) {
    const [config, values] = args;
    if (typeof config === 'object' && config !== null && 'text' in config)
      ran.push({ text: String(config.text), values: Array.isArray(values) ? values : [] });
    return Reflect.apply(query, this, args);
  });
  const store = openPostgresStore(url, POSTGRES_DEFAULTS, () => {});
  try {
    await use(store);
    return ran;
  } finally {
    spy.mockRestore();
    await store.close();
  }
}

export interface PlanMode {
  /** The plan for any values that it may turn to when a prepared statement has been used some times. */
  readonly generic: boolean;
  /** Whether it may read tables whole where it thinks that quicker, as it is with small ones. */
  readonly seqScans: boolean;
}

/**
 * How PostgreSQL runs a statement, which is run for it and undone.
 */
export async function postgresSteps(
  client: pg.Client,
  { text, values }: RanStatement,
  { generic, seqScans }: PlanMode,
): Promise<ReadStep[]> {
  const given = values.map((value) => literal(client, value)).join(', ');
  const mode = generic ? 'force_generic_plan' : 'force_custom_plan';
  await client.query(`BEGIN; SET LOCAL plan_cache_mode = ${mode}; SET LOCAL enable_seqscan = ${seqScans}`);
  try {
    await client.query(`PREPARE looked_at AS ${text}`);
    const { rows } = await client.query(
      `EXPLAIN (ANALYZE, BUFFERS, TIMING OFF, FORMAT JSON) EXECUTE looked_at${given && `(${given})`}`,
    );
    const [{ Plan: root }]: [{ Plan: PlanNode }] = rows[0]['QUERY PLAN'];
    const pages = root['Shared Hit Blocks'] + root['Shared Read Blocks'];
    return [{ detail: `${pages} pages`, bad: pages > MOST_PAGES }, ...steps(root)];
  } finally {
    await client.query('ROLLBACK');
    await client.query('DEALLOCATE ALL');
  }
}

interface PlanNode {
  readonly 'Node Type': string;
  readonly 'Relation Name'?: string;
  readonly 'Index Name'?: string;
  readonly 'Actual Rows': number;
  readonly 'Actual Loops': number;
  readonly 'Rows Removed by Filter'?: number;
  readonly 'Shared Hit Blocks': number;
  readonly 'Shared Read Blocks': number;
  readonly Plans?: readonly PlanNode[];
}

function steps(node: PlanNode): ReadStep[] {
  const type = node['Node Type'];
  const rows = (node['Actual Rows'] + (node['Rows Removed by Filter'] ?? 0)) * node['Actual Loops'];
  const names = [node['Index Name'], node['Relation Name']].filter((name) => name !== undefined);
  const detail = [type, ...names, `${rows} rows`].join(' ');
  return [
    {
      detail,
      bad:
        (type === 'Seq Scan' && node['Relation Name'] !== SMALL) ||
        (rows > MOST_ROWS && type !== 'Bitmap Index Scan'),
    },
    ...(node.Plans ?? []).flatMap(steps),
  ];
}

function literal(client: pg.Client, value: unknown): string {
  if (value === null) return 'NULL';
  if (Array.isArray(value)) return client.escapeLiteral(`{${value.map(element).join(',')}}`);
  return client.escapeLiteral(String(value));
}

const element = (value: unknown) => (value === null ? 'NULL' : JSON.stringify(String(value)));
