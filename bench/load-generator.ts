import { HttpConnection, requestBytes } from './lib/http-connection.js';

/** Appends messages or reads contexts over many connections, each sending its next request when the last was answered. */
export interface LoadRequest {
  readonly kind: 'append' | 'context';
  /** Of the servers that share the load. */
  readonly ports: readonly number[];
  /** To all servers together. */
  readonly connections: number;
  readonly sessions: readonly string[];
  readonly durationMs: number;
}

export interface LoadAnswer {
  /** Answers with a status of success per second. */
  readonly perSecond: number;
  /** Answers with any other status. */
  readonly failed: number;
  /** Of all answers, in ms. */
  readonly latencies: readonly number[];
}

const TEXT_CHARS = 300;

async function load({ kind, ports, connections, sessions, durationMs }: LoadRequest): Promise<LoadAnswer> {
  const content = 'The ferry to Oslo leaves at 18:30. '.repeat(10).slice(0, TEXT_CHARS);
  const requests = sessions.map((id) =>
    kind === 'append'
      ? requestBytes('POST', `/sessions/${id}/messages`, { messages: [{ role: 'user', content }] })
      : requestBytes('GET', `/sessions/${id}/context`),
  );
  const open = await Promise.all(
    Array.from({ length: connections }, (_, index) => HttpConnection.open(ports[index % ports.length] ?? 0)),
  );
  const latencies: number[] = [];
  let failed = 0;
  let next = 0;
  const started = performance.now();
  await Promise.all(
    open.map(async (connection) => {
      for (let now = performance.now(); now - started < durationMs; ) {
        const request = requests[next % requests.length];
        if (request === undefined) throw new Error('there are no sessions');
        next += 1;
        const { status } = await connection.send(request);
        const answered = performance.now();
        latencies.push(answered - now);
        if (status !== (kind === 'append' ? 201 : 200)) failed += 1;
        now = answered;
      }
      connection.close();
    }),
  );
  const seconds = (performance.now() - started) / 1_000;
  return { perSecond: (latencies.length - failed) / seconds, failed, latencies };
}

process.on('message', (request: LoadRequest) => {
  load(request).then(
    (answer) => process.send?.(answer),
    (error: unknown) => {
      process.stderr.write(`${String(error)}\n`);
      process.exit(1);
    },
  );
});
