import { setTimeout as sleep } from 'node:timers/promises';
import type { ProbeAnswer, ProbeRequest } from './latency-probe.js';
import type { Benchmark } from './lib/benchmark.js';
import { startHelper, startService } from './lib/child-process.js';
import { sessionId, setOpenMessages } from './lib/dataset.js';
import { HttpConnection, requestBytes, sendOk } from './lib/http-connection.js';
import { information, ms, msBelow } from './lib/report.js';
import { percentile } from './lib/statistics.js';

const SIZE = 100_000;
const ROUNDS = 2;
const PHASE_MS = 4_000;
const EVERY_MS = 10;
const PAGE = 200;
const MOST_MS = 20;
/** An abandoned compaction gives its lease back within this time, in ms. */
const SETTLE_MS = 500;

type Work = (connection: HttpConnection) => Promise<void>;

const path = `/sessions/${sessionId(SIZE)}`;

const phases: Readonly<Record<string, Work | null>> = {
  idle: null,
  'context and pages': async (connection) => {
    await sendOk(connection, requestBytes('GET', `${path}/context`));
    await listPages(connection);
  },
  listing: listPages,
  compaction: async (connection) => {
    await sendOk(connection, requestBytes('POST', `${path}/compact`, { compactCount: 99 }));
  },
};

/** How fast `/livez` answers while one other client works on a session of 100,000 open messages. */
export const responsiveness: Benchmark = {
  name: 'responsiveness',
  async run(workspace) {
    const database = await workspace.seededDatabase();
    const service = await startService(database);
    const probe = startHelper<ProbeRequest, ProbeAnswer>('latency-probe.ts');
    const ask = (durationMs: number) => probe.ask({ port: service.port, everyMs: EVERY_MS, durationMs });
    await ask(500);
    const latencies = new Map<string, number[]>();
    for (let round = 0; round < ROUNDS; round += 1) {
      for (const [name, work] of Object.entries(phases)) {
        setOpenMessages(database, SIZE, null);
        const stop = work === null ? async () => {} : await repeat(service.port, work);
        const answer = await ask(PHASE_MS);
        await stop();
        latencies.set(name, [...(latencies.get(name) ?? []), ...answer.latencies]);
      }
    }
    await Promise.all([service.stop(), probe.stop()]);
    return [...latencies].map(([name, samples]) => {
      const [p50 = 0, p99 = 0, max = 0] = [0.5, 0.99, 1].map((share) => percentile(samples, share));
      const measured = `p50 ${ms(p50)}, p99 ${ms(p99)}, max ${ms(max)}`;
      return name === 'idle'
        ? information('responsiveness, idle, p99', measured)
        : msBelow(`responsiveness, ${name}, p99`, measured, p99, MOST_MS);
    });
  },
};

/** Repeats `work` on a connection of its own until the returned function is called, which closes it. */
async function repeat(port: number, work: Work): Promise<() => Promise<void>> {
  const connection = await HttpConnection.open(port);
  let stopped = false;
  const done = (async () => {
    while (!stopped) await work(connection);
  })().catch((error: unknown) => {
    if (!stopped) throw error;
  });
  // A failure is reported by the stop; until then nobody waits for it.
  done.catch(() => undefined);
  return async () => {
    stopped = true;
    connection.close();
    await done;
    await sleep(SETTLE_MS);
  };
}

async function listPages(connection: HttpConnection): Promise<void> {
  for (let from = 0; from < SIZE; from += PAGE) {
    const after = from === 0 ? '' : `&after=${from - 1}`;
    await sendOk(connection, requestBytes('GET', `${path}/messages?limit=${PAGE}${after}`));
  }
}
