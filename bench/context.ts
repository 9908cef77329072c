import Database from 'better-sqlite3';
import type { Benchmark } from './lib/benchmark.js';
import { built } from './lib/built.js';
import { SIZES, type Size, sessionId, setOpenMessages, TENANT } from './lib/dataset.js';
import { information, ms, type ReportRow, ratioAtMost } from './lib/report.js';
import { interleaved, medianTime } from './lib/statistics.js';

const OPEN_MESSAGES = 50;
const ROUNDS = 5;
/** Reads per round; of the naive way fewer, since one takes up to a second. */
const READS = 100;
const NAIVE_READS = { 100: 20, 1000: 5, 10000: 2, 100000: 1 } as const;
const MOST = 1.5;

/** Building a context in process: the time must not grow with what is folded already. */
export const context: Benchmark = {
  name: 'context',
  async run(workspace) {
    const path = await workspace.seededDatabase();
    for (const size of SIZES) setOpenMessages(path, size, OPEN_MESSAGES);
    const { openSqliteStore } = await built<typeof import('../src/db/store.sqlite.js')>('db/store.sqlite.js');
    const { ContextService } = await built<typeof import('../src/sessions/context-service.js')>(
      'sessions/context-service.js',
    );
    const store = openSqliteStore(path);
    const naive = new Database(path, { readonly: true });
    try {
      const ways = {
        'no page cache': readsOf(new ContextService(store, settings(0))),
        'page cache': readsOf(new ContextService(store, settings(64 * 1024 * 1024))),
        'naive: load all, parse, slice': (size: Size) => naiveReads(naive, size),
      };
      const rows: ReportRow[] = [];
      const all: Record<string, () => Promise<number>> = {};
      for (const [way, read] of Object.entries(ways)) {
        for (const size of SIZES) all[`${way} ${size}`] = () => read(size);
      }
      const times = await interleaved(ROUNDS, all);
      for (const way of Object.keys(ways)) {
        const [first = 0, , , last = 0] = SIZES.map((size) => times[`${way} ${size}`] ?? 0);
        const measured = SIZES.map((size) => `${size}: ${ms(times[`${way} ${size}`] ?? 0)}`).join(', ');
        const name = `context, ${way}`;
        rows.push(
          way.startsWith('naive')
            ? information(name, measured, last / first)
            : ratioAtMost(name, measured, last / first, MOST),
        );
      }
      return rows;
    } finally {
      naive.close();
      await store.close();
    }
  },
};

const settings = (cacheBytes: number) => ({ cacheBytes, wire: {}, promptOf: async () => null });

function readsOf(service: { read(tenant: string, id: string): Promise<unknown> }) {
  return (size: Size) => medianTime(READS, () => service.read(TENANT, sessionId(size)));
}

function naiveReads(connection: Database.Database, size: Size): Promise<number> {
  const rows = connection.prepare<[string], { body: string }>(
    'SELECT body FROM messages WHERE session_pk = (SELECT pk FROM sessions WHERE id = ?) ORDER BY seq',
  );
  return medianTime(NAIVE_READS[size], async () => {
    const messages = rows.all(sessionId(size)).map(({ body }): unknown => JSON.parse(body));
    return JSON.stringify([...messages.slice(0, 2), ...messages.slice(-OPEN_MESSAGES)]);
  });
}
