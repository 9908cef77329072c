import { setTimeout as sleep } from 'node:timers/promises';
import { HttpConnection, requestBytes } from './lib/http-connection.js';

export interface ProbeRequest {
  readonly port: number;
  readonly everyMs: number;
  readonly durationMs: number;
}

export interface ProbeAnswer {
  /** From the sending of each request to its answer, in ms. */
  readonly latencies: readonly number[];
}

/**
 * Asks `/livez` at fixed times whether or not earlier answers are there, each on a connection that is free:
 * a server that stands still for 200 ms shows in 20 samples, not in one.
 */
async function probe({ port, everyMs, durationMs }: ProbeRequest): Promise<ProbeAnswer> {
  const request = requestBytes('GET', '/livez');
  const free: HttpConnection[] = [await HttpConnection.open(port)];
  const latencies: number[] = [];
  const underway: Promise<void>[] = [];
  const ask = async () => {
    const sent = performance.now();
    const connection = free.pop() ?? (await HttpConnection.open(port));
    const { status } = await connection.send(request);
    if (status !== 200) throw new Error(`/livez answered ${status}`);
    latencies.push(performance.now() - sent);
    free.push(connection);
  };
  const started = performance.now();
  for (let at = 0; at < durationMs; at += everyMs) {
    await sleep(Math.max(0, started + at - performance.now()));
    underway.push(ask());
  }
  await Promise.all(underway);
  for (const connection of free) connection.close();
  return { latencies };
}

process.on('message', (request: ProbeRequest) => {
  probe(request).then(
    (answer) => process.send?.(answer),
    (error: unknown) => {
      process.stderr.write(`${String(error)}\n`);
      process.exit(1);
    },
  );
});
