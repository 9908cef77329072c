import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { onTestFinished } from 'vitest';

/** Listens and then sleeps for ever: the kernel takes as many connections as the backlog holds, nobody more. */
const SLEEPER = `
  const server = require('node:net').createServer();
  server.listen({ port: 0, host: '127.0.0.1', backlog: 1 }, () => {
    require('node:fs').writeSync(1, String(server.address().port));
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
  });
`;
/** The kernel answers a handshake on loopback within microseconds, or not at all; in ms. */
const HANDSHAKE_MS = 250;
const MOST_FILLERS = 16;

/** A port of 127.0.0.1 that answers no SYN, as a host behind a firewall that drops them; until the test ends. */
export async function startBlackhole(): Promise<number> {
  const child = spawn(process.execPath, ['-e', SLEEPER], { stdio: ['ignore', 'pipe', 'inherit'] });
  const fillers: Socket[] = [];
  onTestFinished(() => {
    for (const filler of fillers) filler.destroy();
    child.kill('SIGKILL');
  });
  const [output] = await once(child.stdout, 'data');
  const port = Number(String(output));
  for (let i = 0; i < MOST_FILLERS; i += 1) {
    const filler = connect(port, '127.0.0.1').on('error', () => {});
    fillers.push(filler);
    const connected = once(filler, 'connect').then(() => true);
    const late = new Promise<boolean>((resolve) => setTimeout(resolve, HANDSHAKE_MS, false));
    if (!(await Promise.race([connected, late]))) return port;
  }
  throw new Error('every connection was taken: the backlog is larger than it should be');
}
