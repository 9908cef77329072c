import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';

/** Log lines of errors that are kept of one node. */
const KEPT_ERRORS = 20;

/** One process of the service, that can be killed, paused and started again. Each start takes another port. */
export class ChaosNode {
  readonly name: string;
  readonly #folder: string;
  readonly #variables: Readonly<Record<string, string>>;
  readonly #errors: string[] = [];
  #child: ChildProcess | null = null;
  #url: string | null = null;
  #isPaused = false;

  constructor(name: string, folder: string, variables: Readonly<Record<string, string>>) {
    this.name = name;
    this.#folder = folder;
    this.#variables = variables;
  }

  /** Where it listens; null while it does not run. A paused one takes connections, and says nothing. */
  get url(): string | null {
    return this.#url;
  }

  get isWell(): boolean {
    return this.#url !== null && !this.#isPaused;
  }

  /** What it logged as errors of its own, the first of it. */
  get errors(): readonly string[] {
    return this.#errors;
  }

  /** Starts it, as often as it takes: without a database a node does not start. */
  async start(): Promise<void> {
    for (let tries = 1; ; tries += 1) {
      const said = await this.#try();
      if (said === null) return;
      if (tries === 30) throw new Error(`${this.name} does not start:\n${said}`);
      await sleep(300);
    }
  }

  /** Ends it and waits for the end. */
  async end(signal: 'SIGKILL' | 'SIGTERM'): Promise<void> {
    const child = this.#child;
    if (child === null) return;
    this.#url = null;
    const exited = child.exitCode === null && child.signalCode === null ? once(child, 'exit') : null;
    child.kill(signal);
    if (this.#isPaused) child.kill('SIGCONT');
    this.#isPaused = false;
    await exited;
    this.#child = null;
  }

  async pause(ms: number): Promise<void> {
    this.#isPaused = true;
    this.#child?.kill('SIGSTOP');
    await sleep(ms);
    this.#child?.kill('SIGCONT');
    this.#isPaused = false;
  }

  /** Null once it listens; else what it said before it ended. */
  async #try(): Promise<string | null> {
    const child = spawn(process.execPath, ['dist/server.js'], {
      cwd: this.#folder,
      env: { PATH: process.env['PATH'] ?? '', ...this.#variables },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    this.#child = child;
    let said = '';
    let isListening = false;
    return new Promise((resolve) => {
      const read = (chunk: Buffer) => {
        const text = chunk.toString();
        this.#noteErrors(text);
        if (isListening) return;
        said += text;
        const url = /Server listening at (http:\/\/[^"]+)/.exec(said)?.[1];
        if (url === undefined) return;
        isListening = true;
        this.#url = url;
        resolve(null);
      };
      child.stdout.on('data', read);
      child.stderr.on('data', read);
      child.once('exit', () => {
        // Nobody asked it to, for then it would be known as gone already.
        if (this.#child === child && this.#url !== null) {
          this.#errors.push(`${this.name} ended by itself`);
          this.#url = null;
        }
        resolve(said);
      });
    });
  }

  #noteErrors(text: string): void {
    for (const line of text.split('\n')) {
      // What clients are told of, with a code, is none: the database is away, the model fails.
      const isOwn = /"level":[56]0/.test(line) && !line.includes('"type":"AppError"');
      if (isOwn && this.#errors.length < KEPT_ERRORS) this.#errors.push(line);
    }
  }
}
