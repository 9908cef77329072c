import type { Benchmark } from './lib/benchmark.js';
import { startBenchServer, startService } from './lib/child-process.js';
import { sessionId, setOpenMessages } from './lib/dataset.js';
import { HttpConnection, requestBytes, sendOk } from './lib/http-connection.js';
import { information, ms, ratioAtMost } from './lib/report.js';
import { interleaved, timed } from './lib/statistics.js';

const SIZE = 10_000;
const ROUNDS = 60;
const WARM_UP_ROUNDS = 10;
const MOST = 1.3;

/** A context with 10,000 open messages over HTTP, beside plain node:http sending the same bytes from memory. */
export const bigContext: Benchmark = {
  name: 'big-context',
  async run(workspace) {
    const path = await workspace.seededDatabase();
    const service = await startService(path);
    const request = requestBytes('GET', `/sessions/${sessionId(SIZE)}/context`);
    const connection = await HttpConnection.open(service.port);
    const first = await timed(() => sendOk(connection, request));

    const memory = await startBenchServer('memory-server.ts', {
      SOURCE_URL: `http://127.0.0.1:${service.port}/sessions/${sessionId(SIZE)}/context`,
    });
    const memoryConnection = await HttpConnection.open(memory.port);
    const { bytes } = await sendOk(memoryConnection, request);
    const again = () => timed(() => sendOk(connection, request));
    const cases = {
      service: again,
      memory: () => timed(() => sendOk(memoryConnection, request)),
    };
    await interleaved(WARM_UP_ROUNDS, cases);
    const times = await interleaved(ROUNDS, cases);
    // A raised revision voids the pages that the service keeps.
    const uncached = await interleaved(WARM_UP_ROUNDS, {
      service: () => {
        setOpenMessages(path, SIZE, null);
        return again();
      },
      memory: cases.memory,
    });
    connection.close();
    memoryConnection.close();
    await Promise.all([service.stop(), memory.stop()]);

    const size = `${(bytes / 1e6).toFixed(1)} MB`;
    return [
      ratioAtMost(
        'big-context, service : memory',
        `${ms(times.service)} : ${ms(times.memory)}, ${size}`,
        times.service / times.memory,
        MOST,
      ),
      information(
        'big-context, nothing cached',
        `${ms(uncached.service)} : ${ms(uncached.memory)}; first read of the process ${ms(first)}`,
        uncached.service / uncached.memory,
      ),
    ];
  },
};
