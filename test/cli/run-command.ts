import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';

const PROJECT = fileURLToPath(new URL('../..', import.meta.url));

export interface Finished {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface RunOptions {
  readonly env?: Readonly<Record<string, string>>;
  readonly stdin?: string;
  /** Called with all of stdout so far; sends the signal once it says true. */
  readonly interruptWhen?: (stdout: string) => boolean;
}

/** Runs a script of this project as a real process, from the project's folder, to its end. */
export function runScript(
  script: string,
  args: readonly string[],
  options: RunOptions = {},
): Promise<Finished> {
  return runCommand(process.execPath, ['--import', 'tsx', script, ...args], options);
}

export function runCommand(
  command: string,
  args: readonly string[],
  { env = {}, stdin = '', interruptWhen }: RunOptions = {},
): Promise<Finished> {
  const child = spawn(command, args, { cwd: PROJECT, env: { ...process.env, ...env } });
  let stdout = '';
  let stderr = '';
  let interrupted = false;
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    stdout += text;
    if (interrupted || interruptWhen?.(stdout) !== true) return;
    interrupted = true;
    child.kill('SIGINT');
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr += text;
  });
  child.stdin.end(stdin);
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code) => resolve({ code, stdout, stderr }));
  });
}
