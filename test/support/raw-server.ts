import { createServer, type Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';

/**
 * An HTTP server that sends exactly the bytes a test tells it to, when it tells it to. For everything that a
 * well-behaved server cannot do: split characters, cut bodies, resets, hangs, odd line ends.
 */

export interface RawRequest {
  /** Number of the request on this server, from 0. */
  readonly index: number;
  /** Number of the connection that it came on, from 0. */
  readonly connection: number;
  readonly method: string;
  /** Path and query as sent. */
  readonly path: string;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  /** `performance.now()` when the request was complete. */
  readonly receivedAt: number;
  /** `performance.now()` when the client closed the connection while or after this request was served. */
  peerClosedAt: number | null;
}

/** The connection of one request, as a script uses it. Writing to a closed one does nothing. */
export interface RawConnection {
  write(bytes: string | Uint8Array): void;
  /** Waits, in ms; ends early when the connection closes. */
  pause(ms: number): Promise<void>;
  /** FIN: ends the connection after what was written. */
  end(): void;
  /** RST: breaks the connection. */
  reset(): void;
  readonly isClosed: boolean;
  /** Resolves when the connection is closed, by either side. */
  readonly closed: Promise<void>;
}

export type RawScript = (connection: RawConnection, request: RawRequest) => void | Promise<void>;

export interface RawServer {
  readonly port: number;
  /** `http://127.0.0.1:port` */
  readonly url: string;
  readonly requests: readonly RawRequest[];
  /** Connections accepted so far. */
  readonly connectionCount: number;
  /** Resolves when the client has closed the connection of that request; rejects after `timeoutMs`. */
  peerClosed(index: number, timeoutMs?: number): Promise<number>;
  stop(): Promise<void>;
}

/** Starts a server on a free port of 127.0.0.1; `script` runs once for each request. */
export async function startRawServer(script: RawScript): Promise<RawServer> {
  const requests: RawRequest[] = [];
  const sockets = new Set<Socket>();
  const failures: unknown[] = [];
  let connectionCount = 0;

  const server = createServer((socket) => {
    const connectionIndex = connectionCount;
    connectionCount += 1;
    sockets.add(socket);
    const own: RawRequest[] = [];
    const connection = connectionOf(socket);
    const peerClosed = (): void => {
      for (const request of own) request.peerClosedAt ??= performance.now();
    };
    socket.on('end', peerClosed);
    socket.on('error', peerClosed);
    socket.on('close', () => sockets.delete(socket));
    let received = Buffer.alloc(0);
    let serving = Promise.resolve();
    socket.on('data', (chunk) => {
      received = Buffer.concat([received, chunk]);
      for (let parsed = parse(received); parsed !== null; parsed = parse(received)) {
        received = received.subarray(parsed.length);
        const request: RawRequest = {
          ...parsed.request,
          index: requests.length,
          connection: connectionIndex,
          receivedAt: performance.now(),
          peerClosedAt: null,
        };
        requests.push(request);
        own.push(request);
        serving = serving.then(() => script(connection, request)).catch((error) => void failures.push(error));
      }
    });
  });

  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;

  return {
    port,
    url: `http://127.0.0.1:${port}`,
    requests,
    get connectionCount() {
      return connectionCount;
    },
    async peerClosed(index, timeoutMs = 1_000) {
      const deadline = performance.now() + timeoutMs;
      for (;;) {
        const closedAt = requests[index]?.peerClosedAt ?? null;
        if (closedAt !== null) return closedAt;
        if (performance.now() > deadline) throw new Error(`Request ${index} is still open`);
        await delay(5);
      }
    },
    async stop() {
      for (const socket of sockets) socket.destroy();
      await new Promise<void>((resolve) => {
        server.close(() => resolve());
      });
      // A script that threw would otherwise show as nothing but a hang of the client.
      if (failures.length > 0) throw failures[0];
    },
  };
}

export interface RawResponse {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array;
}

/** A complete response with a length, as bytes. A body that is not an event stream is said to be JSON. */
export function rawResponse({ status = 200, headers = {}, body = '' }: RawResponse): Uint8Array {
  const bytes = Buffer.from(body);
  const all = { 'content-type': 'application/json', 'content-length': String(bytes.length), ...headers };
  return Buffer.concat([Buffer.from(head(status, all)), bytes]);
}

/** The head of an event stream that ends with the connection. */
export function rawStreamHead(headers: Readonly<Record<string, string>> = {}): string {
  return head(200, { 'content-type': 'text/event-stream', connection: 'close', ...headers });
}

/** One chunk of a body with `transfer-encoding: chunked`; the empty text is the last one. */
export function rawChunk(text: string): string {
  return `${Buffer.byteLength(text).toString(16)}\r\n${text}\r\n`;
}

function head(status: number, headers: Readonly<Record<string, string>>): string {
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  return `HTTP/1.1 ${status} Status\r\n${lines.join('')}\r\n`;
}

function connectionOf(socket: Socket): RawConnection {
  socket.setNoDelay(true);
  const closed = new Promise<void>((resolve) => {
    socket.once('close', () => resolve());
  });
  return {
    write(bytes) {
      if (socket.writable) socket.write(bytes);
    },
    async pause(ms) {
      const timer = new AbortController();
      await Promise.race([closed, delay(ms, undefined, { signal: timer.signal }).catch(() => {})]);
      timer.abort();
    },
    end() {
      socket.end();
    },
    reset() {
      socket.resetAndDestroy();
    },
    get isClosed() {
      return socket.destroyed;
    },
    closed,
  };
}

type ParsedRequest = Pick<RawRequest, 'method' | 'path' | 'headers' | 'body'>;

/** The first complete request in the bytes, with its length; null while it is incomplete. */
function parse(bytes: Buffer): { request: ParsedRequest; length: number } | null {
  const headEnd = bytes.indexOf('\r\n\r\n');
  if (headEnd < 0) return null;
  const [start = '', ...lines] = bytes.toString('latin1', 0, headEnd).split('\r\n');
  const [method = '', path = ''] = start.split(' ');
  const headers = Object.fromEntries(
    lines.map((line) => {
      const colon = line.indexOf(':');
      return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()];
    }),
  );
  const length = headEnd + 4 + Number(headers['content-length'] ?? 0);
  if (bytes.length < length) return null;
  return { request: { method, path, headers, body: bytes.toString('utf8', headEnd + 4, length) }, length };
}
