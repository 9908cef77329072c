import { createServer, type Socket } from 'node:net';
import { onTestFinished } from 'vitest';

export interface EndingServer {
  readonly port: number;
  /** `http://127.0.0.1:port` */
  readonly url: string;
  /** Connections accepted so far. */
  readonly connections: number;
}

/**
 * A server that does not answer as it should: `end` gets each new connection, or with `afterRequest` one on which
 * something was sent. It stops with the test.
 */
export async function startEndingServer(
  end: (socket: Socket) => void,
  { afterRequest = true }: { readonly afterRequest?: boolean } = {},
): Promise<EndingServer> {
  const sockets = new Set<Socket>();
  let connections = 0;
  const server = createServer((socket) => {
    connections += 1;
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket)).on('error', () => socket.destroy());
    if (afterRequest) socket.once('data', () => end(socket));
    else end(socket);
    // Without reading, the end of the connection would not be noticed.
    socket.resume();
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  onTestFinished(async () => {
    for (const socket of sockets) socket.destroy();
    await new Promise((resolve) => server.close(resolve));
  });
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  return {
    port,
    url: `http://127.0.0.1:${port}`,
    get connections() {
      return connections;
    },
  };
}
