import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { onTestFinished } from 'vitest';
import type { AnyBody } from './service.js';
import { onTestedStore } from './tested-store.js';

const root = fileURLToPath(new URL('../..', import.meta.url));

export interface ServiceProcess {
  readonly url: string;
  readonly child: ChildProcess;
  /** All that the process has written to its log so far. */
  log(): string;
  call(
    method: string,
    path: string,
    body?: unknown,
    signal?: AbortSignal,
  ): Promise<{ status: number; headers: Headers; body: AnyBody }>;
  /** Sends the signal and waits for the end; gives exit code and signal. */
  end(signal: NodeJS.Signals): Promise<{ code: number | null; signal: NodeJS.Signals | null }>;
}

/** Starts the service as a process of its own on a free port; it is killed with the test if it still runs. */
export async function startProcess(variables: Record<string, string>): Promise<ServiceProcess> {
  const child = spawn(process.execPath, ['dist/server.js'], {
    cwd: root,
    env: { PATH: process.env['PATH'] ?? '', PORT: '0', ...(await onTestedStore(variables)) },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  onTestFinished(() => {
    if (child.exitCode === null && child.signalCode === null) child.kill('SIGKILL');
  });
  let written = '';
  const url = await new Promise<string>((resolve, reject) => {
    const read = (chunk: Buffer) => {
      written += chunk.toString();
      const address = /Server listening at (http:\/\/[^"]+)/.exec(written)?.[1];
      if (address !== undefined) resolve(address);
    };
    child.stdout.on('data', read);
    child.stderr.on('data', read);
    child.on('exit', () => reject(new Error(`The service ended before it listened:\n${written}`)));
  });

  return {
    url,
    child,
    log: () => written,
    async call(method, path, body, signal) {
      const response = await fetch(`${url}${path}`, {
        method,
        ...(body === undefined
          ? {}
          : { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } }),
        ...(signal === undefined ? {} : { signal }),
      });
      const text = await response.text();
      return {
        status: response.status,
        headers: response.headers,
        body: JSON.parse(text === '' ? '{}' : text),
      };
    },
    async end(signal) {
      const exited = once(child, 'exit');
      child.kill(signal);
      const [code, by]: (number | NodeJS.Signals | null)[] = await exited;
      return { code: typeof code === 'number' ? code : null, signal: typeof by === 'string' ? by : null };
    },
  };
}
