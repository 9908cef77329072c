import { createServer } from 'node:http';
import { connect, type Socket } from 'node:net';
import { onTestFinished } from 'vitest';

export interface ConnectProxy {
  /** `http://127.0.0.1:port` */
  readonly url: string;
  /** What was asked for, in order: `host:port`. */
  readonly targets: readonly string[];
  /** The `Proxy-Authorization` of each of them. */
  readonly credentials: readonly (string | undefined)[];
  /** Requests that did not ask for a tunnel. */
  readonly plainRequests: readonly string[];
  /** Connections that are open now, on both sides. */
  readonly openConnections: number;
}

/**
 * A real proxy on loopback that tunnels every CONNECT to `port` there, whatever host was asked for; it stops with
 * the test. With a `status` it refuses instead; with `silent` it never answers.
 */
export async function startConnectProxy(
  port: number,
  { status = 200, silent = false }: { readonly status?: number; readonly silent?: boolean } = {},
): Promise<ConnectProxy> {
  const targets: string[] = [];
  const credentials: (string | undefined)[] = [];
  const plainRequests: string[] = [];
  const sockets = new Set<Socket>();
  const track = (socket: Socket): void => {
    sockets.add(socket);
    socket.on('error', () => socket.destroy());
    socket.on('close', () => sockets.delete(socket));
  };
  const server = createServer((request, response) => {
    plainRequests.push(request.url ?? '');
    response.writeHead(500).end();
  });
  server.on('connection', track);
  server.on('connect', (request, client: Socket) => {
    targets.push(request.url ?? '');
    credentials.push(request.headers['proxy-authorization']);
    if (silent) {
      // Without reading, the end of the connection would not be noticed.
      client.on('end', () => client.destroy()).resume();
      return;
    }
    if (status !== 200) {
      client.end(`HTTP/1.1 ${status} No\r\ncontent-length: 0\r\n\r\n`);
      return;
    }
    const upstream = connect(port, '127.0.0.1', () => {
      client.write('HTTP/1.1 200 Connection established\r\n\r\n');
      upstream.pipe(client);
      client.pipe(upstream);
    });
    track(upstream);
    upstream.on('close', () => client.destroy());
    client.on('close', () => upstream.destroy());
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  onTestFinished(async () => {
    for (const socket of sockets) socket.destroy();
    await new Promise((resolve) => server.close(resolve));
  });
  const address = server.address();
  const own = typeof address === 'object' && address !== null ? address.port : 0;
  return {
    url: `http://127.0.0.1:${own}`,
    targets,
    credentials,
    plainRequests,
    get openConnections() {
      return sockets.size;
    },
  };
}
