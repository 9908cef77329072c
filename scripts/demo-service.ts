import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

/** How long a service that was told to stop may take, in ms; then it is killed. */
const STOP_MS = 5_000;
const START_MS = 30_000;
const PROJECT = fileURLToPath(new URL('..', import.meta.url));

export interface DemoService {
  readonly url: URL;
  /** Path of its database. */
  readonly database: string;
  /** Stops the process and removes its database. */
  stop(): Promise<void>;
}

/**
 * Starts the service as a process of its own, on a free port and a database that lasts as long as it does.
 *
 * @param variables beside or instead of those of this process; undefined takes one away
 */
export async function startDemoService(
  signal: AbortSignal,
  variables: NodeJS.ProcessEnv = {},
): Promise<DemoService> {
  const folder = await mkdtemp(join(tmpdir(), 'compactd-demo-'));
  const database = join(folder, 'demo.db');
  const child = spawn(process.execPath, ['--import', 'tsx', 'src/server.ts'], {
    cwd: PROJECT,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: {
      ...process.env,
      ...variables,
      DATABASE_URL: `file:${database}`,
      HOST: '127.0.0.1',
      PORT: '0',
      // The port is read from the log.
      LOG_LEVEL: 'info',
    },
  });
  const stop = async () => {
    await endProcess(child);
    await rm(folder, { recursive: true, force: true });
  };
  try {
    return { url: await listeningUrl(child, signal), database, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

function listeningUrl(child: ChildProcess, signal: AbortSignal): Promise<URL> {
  const { stdout, stderr } = child;
  if (stdout === null || stderr === null) throw new Error('the service has no output');
  let complaint = '';
  stderr.setEncoding('utf8').on('data', (text: string) => {
    complaint = (complaint + text).slice(-2_000);
  });
  return new Promise((resolve, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason), { once: true });
    AbortSignal.timeout(START_MS).addEventListener('abort', () => {
      reject(new Error(`the service did not start within ${START_MS / 1000} s`));
    });
    child.once('error', reject);
    child.once('close', (code) => {
      reject(new Error(complaint.trim() || `the service ended with exit code ${code}`));
    });
    // Goes on reading after the port is known: a full pipe would stop the service.
    createInterface({ input: stdout }).on('line', (line) => {
      const url = /Server listening at (http:\/\/[^"\s]+)/.exec(line)?.[1];
      if (url !== undefined) resolve(new URL(url));
    });
  });
}

async function endProcess(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null || child.pid === undefined) return;
  const ended = once(child, 'exit');
  child.kill('SIGTERM');
  const timer = new AbortController();
  const late = sleep(STOP_MS, true, { signal: timer.signal }).catch(() => false);
  if ((await Promise.race([ended, late])) === true) child.kill('SIGKILL');
  await ended;
  timer.abort();
}
