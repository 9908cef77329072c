import type { Benchmark } from './lib/benchmark.js';
import { type ServerProcess, startService } from './lib/child-process.js';
import { type Size, sessionId, setOpenMessages } from './lib/dataset.js';
import { HttpConnection, requestBytes, sendOk } from './lib/http-connection.js';
import { information } from './lib/report.js';
import { median } from './lib/statistics.js';

const ROUNDS = 3;
const READS = 300;
const PAGE = 200;
const PAIR = [100, 100_000] as const;
const STEPS = ['started', 'context read', 'compaction planned', 'messages listed'] as const;
type Step = (typeof STEPS)[number];

/** Resident memory of a fresh server after the same number of requests to a short and to a long session. */
export const memory: Benchmark = {
  name: 'memory',
  async run(workspace) {
    const path = await workspace.seededDatabase();
    for (const size of PAIR) setOpenMessages(path, size, 50);
    const samples: { size: Size; step: Step; bytes: number }[] = [];
    for (let round = 0; round < ROUNDS; round += 1) {
      for (const size of PAIR) {
        const server = await startService(path);
        for (const step of STEPS) {
          await perform(step, server, size);
          samples.push({ size, step, bytes: server.residentBytes() });
        }
        await server.stop();
      }
    }
    return STEPS.map((step) => {
      const [short, long] = PAIR.map((size) =>
        median(samples.filter((one) => one.size === size && one.step === step).map(({ bytes }) => bytes)),
      );
      const megabytes = [long, short].map((bytes = 0) => `${(bytes / 1e6).toFixed(0)} MB`).join(' : ');
      return information(`memory, ${step}, 100,000 : 100`, megabytes, (long ?? 0) / (short ?? 1));
    });
  },
};

async function perform(step: Step, { port }: ServerProcess, size: Size): Promise<void> {
  const connection = await HttpConnection.open(port);
  const id = sessionId(size);
  for (let i = 0; i < READS; i += 1) {
    switch (step) {
      case 'started':
        break;
      case 'context read':
        await sendOk(connection, requestBytes('GET', `/sessions/${id}/context`));
        break;
      case 'compaction planned':
        await sendOk(connection, requestBytes('POST', `/sessions/${id}/compact`, { dryRun: true }));
        break;
      case 'messages listed': {
        const after = i === 0 || size <= PAGE ? '' : `&after=${i * PAGE - 1}`;
        await sendOk(connection, requestBytes('GET', `/sessions/${id}/messages?limit=${PAGE}${after}`));
        break;
      }
    }
  }
  connection.close();
}
