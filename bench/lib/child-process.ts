import { type ChildProcess, fork, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { builtUrl } from './built.js';
import { HttpConnection, requestBytes } from './http-connection.js';

const START_MS = 20_000;
const STOP_MS = 5_000;
/** What runs a TypeScript file of this folder in a plain `node`. */
const TYPESCRIPT = ['--import', 'tsx'];

/** A server process on a port of 127.0.0.1. */
export interface ServerProcess {
  readonly port: number;
  /** Resident memory, in bytes. */
  residentBytes(): number;
  stop(): Promise<void>;
}

const running = new Set<ChildProcess>();

/** The built service on a database, logging the same on both sides of every comparison. */
export function startService(
  databasePath: string,
  variables: Readonly<Record<string, string>> = {},
): Promise<ServerProcess> {
  return startServer([fileURLToPath(builtUrl('server.js'))], {
    DATABASE_URL: `file:${databasePath}`,
    ...variables,
  });
}

/** A server of this folder; it listens on the port in PORT and answers `/livez`. */
export function startBenchServer(
  file: string,
  variables: Readonly<Record<string, string>>,
): Promise<ServerProcess> {
  return startServer([...TYPESCRIPT, scriptPath(file)], variables);
}

/** A helper of this folder that answers each message with one message. */
export function startHelper<Request extends object, Answer>(file: string) {
  const child = fork(scriptPath(file), { execArgv: TYPESCRIPT });
  running.add(child);
  const gone = once(child, 'exit').then(() => Promise.reject(new Error(`${file} ended`)));
  gone.catch(() => undefined);
  return {
    async ask(request: Request): Promise<Answer> {
      const answer = once(child, 'message');
      child.send(request);
      const [message]: Answer[] = await Promise.race([answer, gone]);
      if (message === undefined) throw new Error(`${file} answered nothing`);
      return message;
    },
    stop: () => stopChild(child),
  };
}

/** Ends every process that is left: for the end of a run that failed. */
export async function stopAll(): Promise<void> {
  await Promise.all([...running].map(stopChild));
}

async function startServer(
  args: readonly string[],
  variables: Readonly<Record<string, string>>,
): Promise<ServerProcess> {
  const port = await freePort();
  const child = spawn(process.execPath, args, {
    env: { PATH: process.env['PATH'], LOG_LEVEL: 'warn', PORT: String(port), ...variables },
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  running.add(child);
  await untilAlive(child, port);
  return {
    port,
    residentBytes: () => residentBytes(child),
    stop: () => stopChild(child),
  };
}

async function untilAlive(child: ChildProcess, port: number): Promise<void> {
  const deadline = Date.now() + START_MS;
  while (child.exitCode === null && Date.now() < deadline) {
    try {
      const connection = await HttpConnection.open(port);
      const { status } = await connection.send(requestBytes('GET', '/livez'));
      connection.close();
      if (status === 200) return;
    } catch {
      // Not listening yet.
    }
    await sleep(20);
  }
  await stopChild(child);
  throw new Error(`${child.spawnargs.join(' ')} did not start`);
}

async function stopChild(child: ChildProcess): Promise<void> {
  running.delete(child);
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, 'exit');
  child.kill('SIGTERM');
  const patience = setTimeout(() => child.kill('SIGKILL'), STOP_MS);
  await ended;
  clearTimeout(patience);
}

/** A port that was free a moment ago. */
async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  await once(server, 'close');
  if (address === null || typeof address === 'string') throw new Error('there is no free port');
  return address.port;
}

function residentBytes(child: ChildProcess): number {
  const status = readFileSync(`/proc/${child.pid}/status`, 'utf8');
  return Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1] ?? Number.NaN) * 1024;
}

function scriptPath(file: string): string {
  return fileURLToPath(new URL(`../${file}`, import.meta.url));
}
