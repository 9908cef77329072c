import pg from 'pg';
import type { Benchmark } from './lib/benchmark.js';
import { startHelper, startService } from './lib/child-process.js';
import { HttpConnection, requestBytes, sendOk } from './lib/http-connection.js';
import { withPostgres } from './lib/postgres.js';
import { information, ms, type ReportRow } from './lib/report.js';
import { sampleMessage } from './lib/sample-messages.js';
import { interleaved, percentile } from './lib/statistics.js';
import type { LoadAnswer, LoadRequest } from './load-generator.js';

const NODES = [1, 2, 3] as const;
const ROUNDS = 3;
const ROUND_MS = 1_000;
const CONNECTIONS = 48;
const SESSIONS = Array.from({ length: 100 }, (_, index) => `node-${index}`);
const STORED = 100;
const OPEN = 50;

/**
 * One, two and three nodes on one PostgreSQL, with the same clients, the database and the load on the same machine:
 * what more nodes gain there, they gain from cores that are left over.
 */
export const nodes: Benchmark = {
  name: 'nodes',
  run: () =>
    withPostgres(async (url) => {
      const services = await Promise.all(NODES.map(() => startService('', { DATABASE_URL: url })));
      const ports = services.map(({ port }) => port);
      const generator = startHelper<LoadRequest, LoadAnswer>('load-generator.ts');
      await createSessions(ports[0] ?? 0, url);
      const latencies: Record<string, number[]> = {};
      const load = async (kind: LoadRequest['kind'], count: number, durationMs: number) => {
        const request = { kind, ports: ports.slice(0, count), connections: CONNECTIONS, sessions: SESSIONS };
        const answer = await generator.ask({ ...request, durationMs });
        if (answer.failed > 0) throw new Error(`${answer.failed} requests failed`);
        const known = latencies[`${kind} ${count}`] ?? [];
        latencies[`${kind} ${count}`] = [...known, ...answer.latencies];
        return answer.perSecond;
      };
      const rows: ReportRow[] = [];
      for (const kind of ['context', 'append'] as const) {
        await load(kind, NODES.length, ROUND_MS);
        latencies[`${kind} ${NODES.length}`] = [];
        const rates = await interleaved(
          ROUNDS,
          Object.fromEntries(NODES.map((count) => [String(count), () => load(kind, count, ROUND_MS)])),
        );
        const one = rates['1'] ?? Number.NaN;
        for (const count of NODES) {
          const rate = rates[String(count)] ?? 0;
          const p99 = ms(percentile(latencies[`${kind} ${count}`] ?? [], 0.99));
          const name = `${kind}, ${count} ${count === 1 ? 'node' : 'nodes'} on PostgreSQL : 1`;
          rows.push(information(name, `${Math.round(rate)}/s, p99 ${p99}`, rate / one));
        }
      }
      await Promise.all([...services.map((service) => service.stop()), generator.stop()]);
      return rows;
    }),
};

/** Sessions of 100 messages, of which the newest 50 come after a summary. */
async function createSessions(port: number, url: string): Promise<void> {
  const connection = await HttpConnection.open(port);
  const messages = Array.from({ length: STORED }, (_, seq) => sampleMessage(seq));
  for (const id of SESSIONS) await sendOk(connection, requestBytes('POST', '/sessions', { id, messages }));
  connection.close();
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  await client.query(
    "UPDATE sessions SET compact_size = conversation_count - $1, compact_summary = 'What was said.', revision = 2",
    [OPEN],
  );
  await client.query('ANALYZE');
  await client.end();
}
