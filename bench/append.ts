import type { Benchmark } from './lib/benchmark.js';
import { startBenchServer, startHelper, startService } from './lib/child-process.js';
import { HttpConnection, requestBytes, sendOk } from './lib/http-connection.js';
import { information, ms, ratioAtLeast } from './lib/report.js';
import { interleaved, percentile } from './lib/statistics.js';
import type { LoadAnswer, LoadRequest } from './load-generator.js';

const ROUNDS = 3;
const ROUND_MS = 4_000;
const WARM_UP_MS = 1_500;
const CONNECTIONS = 32;
const SESSIONS = Array.from({ length: 100 }, (_, index) => `append-${index}`);
const LEAST = 0.35;

/** Durable appends over HTTP, beside the same service without the store: what the writing costs. */
export const append: Benchmark = {
  name: 'append',
  async run(workspace) {
    const service = await startService(workspace.emptyDatabase());
    const validating = await startBenchServer('validate-only-server.ts', {
      DATABASE_URL: `file:${workspace.emptyDatabase()}`,
    });
    const generator = startHelper<LoadRequest, LoadAnswer>('load-generator.ts');
    const load = (port: number, durationMs: number) =>
      generator.ask({
        kind: 'append',
        ports: [port],
        connections: CONNECTIONS,
        sessions: SESSIONS,
        durationMs,
      });
    await createSessions(service.port);
    for (const { port } of [service, validating]) await load(port, WARM_UP_MS);

    const latencies: Record<string, number[]> = { durable: [], validating: [] };
    const measure = async (name: string, port: number) => {
      const answer = await load(port, ROUND_MS);
      if (answer.failed > 0) throw new Error(`${answer.failed} appends failed`);
      latencies[name]?.push(...answer.latencies);
      return answer.perSecond;
    };
    const rates = await interleaved(ROUNDS, {
      durable: () => measure('durable', service.port),
      validating: () => measure('validating', validating.port),
    });
    await Promise.all([service.stop(), validating.stop(), generator.stop()]);

    const rate = (name: 'durable' | 'validating') => `${Math.round(rates[name])}/s`;
    const times = (name: string) =>
      [0.5, 0.99]
        .map((share) => `p${share * 100} ${ms(percentile(latencies[name] ?? [], share))}`)
        .join(', ');
    return [
      ratioAtLeast(
        'append, durable : validated only',
        `${rate('durable')} : ${rate('validating')}`,
        rates.durable / rates.validating,
        LEAST,
      ),
      information('append, latency', `durable ${times('durable')}; validated only ${times('validating')}`),
    ];
  },
};

async function createSessions(port: number): Promise<void> {
  const connection = await HttpConnection.open(port);
  for (const id of SESSIONS) await sendOk(connection, requestBytes('POST', '/sessions', { id }));
  connection.close();
}
