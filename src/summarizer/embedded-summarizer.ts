import type { Summarizer, SummaryRequest } from '../compaction/summarizer.js';
import type { CallResult, Outcome } from '../llm/outcome.js';
import { WorkerHost } from './worker-host.js';

/** Recorded with every compaction that it writes. */
const MODEL = 'embedded/extractive';
/** A piece of this size takes about a second; a larger one would keep a waiting session too long. */
const TRANSCRIPT_CHARS = 1_000_000;
const MAX_MESSAGE_CHARS = 300;

/** The embedded summarizer; `close` ends its worker thread and fails what is running or waiting. */
export type EmbeddedSummarizer = Summarizer & { close(): Promise<void> };

/**
 * The summarizer that is used when no model endpoint is configured: it chooses sentences instead of writing
 * them, in a worker thread, without a network. Jobs run one after another in the order they came. `host` is
 * for tests.
 */
export function createEmbeddedSummarizer(host: WorkerHost = new WorkerHost()): EmbeddedSummarizer {
  let queue: Promise<unknown> = Promise.resolve();
  /** How each job that runs or waits is given up on `close`. */
  const open = new Set<() => void>();
  let isClosed = false;

  const runJob = async (request: SummaryRequest, isAbandoned: () => boolean): Promise<Outcome> => {
    if (isAbandoned()) return aborted();
    if (isClosed) return closed();
    try {
      const text = await host.run(request, () => !isAbandoned());
      return completion(text);
    } catch (error) {
      return unavailable(error instanceof Error ? error.message : String(error));
    }
  };

  const summarize = (request: SummaryRequest): Promise<CallResult> => {
    const { signal } = request;
    if (signal.aborted) return Promise.resolve(resultOf(aborted()));
    return new Promise((resolve) => {
      let isAbandoned = false;
      let isRunning = false;
      const finish = (outcome: Outcome): void => {
        signal.removeEventListener('abort', onAbort);
        open.delete(onClose);
        resolve(resultOf(outcome));
      };
      const abandon = (outcome: Outcome): void => {
        isAbandoned = true;
        // The caller hears at once; the queue goes on when the worker is gone.
        finish(outcome);
        if (isRunning) host.stop().catch(() => undefined);
      };
      const onAbort = (): void => abandon(aborted());
      const onClose = (): void => abandon(closed());
      signal.addEventListener('abort', onAbort);
      open.add(onClose);
      queue = queue.then(async () => {
        isRunning = true;
        const outcome = await runJob(request, () => isAbandoned);
        isRunning = false;
        if (!isAbandoned) finish(outcome);
      });
    });
  };

  const close = async (): Promise<void> => {
    isClosed = true;
    for (const giveUp of [...open]) giveUp();
    await host.stop();
    await queue;
  };

  const summarizer: EmbeddedSummarizer = {
    model: MODEL,
    budget: { unit: 'chars', transcriptChars: TRANSCRIPT_CHARS },
    // It writes to the length it is given, so there is no cut reply to ask again for.
    maxOutputTokens: null,
    ready: async () => summarizer,
    summarize,
    close,
  };
  return summarizer;
}

function resultOf(outcome: Outcome): CallResult {
  return { outcome, requests: 1, usage: { inputTokens: null, outputTokens: null } };
}

function completion(text: string): Outcome {
  return { kind: 'ok', text, finishReason: 'stop', refusal: null, toolCalls: [], model: MODEL };
}

function aborted(): Outcome {
  return { kind: 'aborted', message: 'The summary was cancelled by the caller', status: null };
}

function closed(): Outcome {
  return unavailable('it was closed');
}

function unavailable(cause: string): Outcome {
  const message = `The embedded summarizer failed: ${cause}`.slice(0, MAX_MESSAGE_CHARS);
  return { kind: 'unavailable', message, status: null, retryAfterMs: null };
}
