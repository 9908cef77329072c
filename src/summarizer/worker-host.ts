import { setImmediate as nextTurn } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import type { ExtractRequest } from './extract.js';
import type { FromWorker, PagedText, ToWorker } from './worker-protocol.js';

/** Chars per message to the worker: copying 64 Ki takes well under a millisecond of the main thread. */
const PAGE_CHARS = 65_536;

/** 1 MB of the worst text (a quarter of a million different lines) fits in 160 MB; beyond the limit the worker ends, not the process. */
const RESOURCE_LIMITS = { maxOldGenerationSizeMb: 512, maxYoungGenerationSizeMb: 32 };

/** The worker ended before it answered: a crash, the memory limit, or `stop`. */
export class WorkerEnded extends Error {
  override readonly name = 'WorkerEnded';
}

/**
 * One worker thread, started with the first job and again after it ended. Runs one job at a time (the caller
 * sees to that). It holds the process open only while a job runs.
 */
export class WorkerHost {
  readonly #entry: URL;
  #worker: Worker | null = null;

  /** `entry`: the worker's file; tests put in one that crashes. */
  constructor(entry: URL = defaultEntry()) {
    this.#entry = entry;
  }

  /**
   * Hands the request over and resolves with the summary. Rejects with WorkerEnded when the worker ends first,
   * with an Error when the extraction failed. `isWanted` is asked between pages: false stops the handing over.
   */
  async run(request: ExtractRequest, isWanted: () => boolean): Promise<string> {
    const worker = this.#start();
    worker.ref();
    try {
      const answer = answerOf(worker);
      // The answer may fail while pages are still on their way; the await below reports it.
      answer.catch(() => undefined);
      await this.#handOver(worker, request, isWanted);
      return await answer;
    } finally {
      worker.unref();
    }
  }

  /** Ends the worker, whatever it is doing; resolves once it is gone. The next job starts a new one. */
  async stop(): Promise<void> {
    const worker = this.#worker;
    this.#worker = null;
    if (worker !== null) await worker.terminate();
  }

  #start(): Worker {
    if (this.#worker !== null) return this.#worker;
    const worker = new Worker(this.#entry, {
      name: 'summarizer',
      resourceLimits: RESOURCE_LIMITS,
      // The parent's flags (test runners, loaders, inspectors) are not meant for this thread.
      execArgv: [],
    });
    const forget = (): void => {
      if (this.#worker === worker) this.#worker = null;
    };
    // Without a listener an error in an idle worker would be thrown in the main thread.
    worker.on('error', forget);
    worker.on('exit', forget);
    this.#worker = worker;
    return worker;
  }

  async #handOver(worker: Worker, request: ExtractRequest, isWanted: () => boolean): Promise<void> {
    const { previousSummary, transcript, instructions, maxChars } = request;
    await sendPages(worker, 'previousSummary', previousSummary ?? '', isWanted);
    await sendPages(worker, 'transcript', transcript, isWanted);
    if (!isWanted()) return;
    send(worker, { kind: 'run', hasPrevious: previousSummary !== null, rest: { instructions, maxChars } });
  }
}

function defaultEntry(): URL {
  const isSource = import.meta.url.endsWith('.ts');
  return new URL(isSource ? './worker-from-source.mjs' : './worker.js', import.meta.url);
}

/** Between pages the event loop turns, so that a megabyte never stops the service's other requests. */
async function sendPages(
  worker: Worker,
  of: PagedText,
  text: string,
  isWanted: () => boolean,
): Promise<void> {
  for (let start = 0; start < text.length && isWanted(); start += PAGE_CHARS) {
    send(worker, { kind: 'page', of, text: text.slice(start, start + PAGE_CHARS) });
    await nextTurn();
  }
}

function send(worker: Worker, message: ToWorker): void {
  worker.postMessage(message);
}

function answerOf(worker: Worker): Promise<string> {
  return new Promise((resolve, reject) => {
    const settle = (finish: () => void): void => {
      worker.off('message', onMessage);
      worker.off('error', onError);
      worker.off('exit', onExit);
      finish();
    };
    const onMessage = (answer: FromWorker): void =>
      settle(() => {
        if (answer.kind === 'summary') resolve(answer.text);
        else reject(new Error(answer.message));
      });
    const onError = (error: Error): void => settle(() => reject(new WorkerEnded(error.message)));
    const onExit = (code: number): void =>
      settle(() => reject(new WorkerEnded(`the worker ended with code ${code}`)));
    worker.on('message', onMessage);
    worker.on('error', onError);
    worker.on('exit', onExit);
  });
}
