import { setTimeout as delay } from 'node:timers/promises';
import type { AttemptResult } from './attempt.js';
import { LoadingWait } from './loading-wait.js';
import type { CallResult, Failure, Outcome } from './outcome.js';
import { hintOf, isLoading, type RetryState, waitBeforeRetry } from './retry-wait.js';
import { NO_USAGE, sum } from './usage.js';

/** Longest wait in one call for a server that loads its model, in ms. */
const LOADING_BUDGET_MS = 120_000;

export interface RetryEvent {
  readonly kind: Failure['kind'];
  readonly message: string;
  /** Requests sent so far. */
  readonly requests: number;
  /** Time until the next request, in ms; null when there is none. */
  readonly retryInMs: number | null;
  /** How the next request differs from this one, in one phrase; null when it does not. */
  readonly change: string | null;
}

export interface RetryOptions {
  /** Further requests after the first one. */
  readonly retries: number;
  readonly signal: AbortSignal;
  /** Longest wait for a server that loads its model, in ms, beside the retries; 2 minutes by default. */
  readonly loadingBudgetMs?: number | undefined;
  /** From 0 up to, not including, 1. */
  readonly random?: (() => number) | undefined;
  /** Rejects when the signal fires. */
  readonly sleep?: ((ms: number, signal: AbortSignal) => Promise<unknown>) | undefined;
  readonly onFailure?: ((event: RetryEvent) => void) | undefined;
  /** False once a repeated request could not be hidden from the caller: then nothing is sent again, for no reason. */
  readonly mayRepeat?: (() => boolean) | undefined;
  /** Changes the request after a refusal if that can help, and says how in one phrase; null when it cannot. */
  readonly change?: ((result: AttemptResult) => string | null) | undefined;
}

/**
 * The only place that sends a request again. It looks at what an attempt came to and nothing else, so that no
 * second layer can multiply the requests.
 *
 * A request that was lost on a connection the server had already closed never reached the server: it is sent
 * again at once, one time per call, and does not count against `retries` (it does count in `requests`). The same
 * holds for a request that was refused for its form and goes out in another one, and for a server that says that
 * it is loading its model, which is asked again until the budget for that is used up.
 */
export async function withRetries(
  send: () => Promise<AttemptResult>,
  options: RetryOptions,
): Promise<CallResult> {
  const random = options.random ?? Math.random;
  const sleep = options.sleep ?? sleepFully;
  const state: RetryState = { used: 0, doubtful: 0 };
  const loading = new LoadingWait(options.loadingBudgetMs ?? LOADING_BUDGET_MS);
  let staleResent = false;
  let requests = 0;
  let usage = NO_USAGE;
  const aborted = (): CallResult => ({ outcome: cancelled(), requests, usage });
  for (;;) {
    if (options.signal.aborted) return aborted();
    requests += 1;
    const result = await send();
    usage = sum(usage, result.usage);
    const { outcome } = result;
    if (outcome.kind === 'ok') return { outcome, requests, usage };
    const mayRepeat = options.mayRepeat?.() ?? true;
    const change = mayRepeat ? (options.change?.(result) ?? null) : null;
    let waitMs: number | null;
    if (!mayRepeat) {
      waitMs = null;
    } else if (change !== null) {
      waitMs = 0;
    } else if (result.staleConnection && !staleResent) {
      staleResent = true;
      waitMs = 0;
    } else if (isLoading(result)) {
      waitMs = loading.next(hintOf(outcome), random);
    } else {
      waitMs = waitBeforeRetry(result, outcome, state, options.retries, random);
    }
    options.onFailure?.({
      kind: outcome.kind,
      message: outcome.message,
      requests,
      retryInMs: waitMs,
      change,
    });
    if (waitMs === null) return { outcome, requests, usage };
    if (waitMs === 0) continue;
    try {
      await sleep(waitMs, options.signal);
    } catch {
      return aborted();
    }
  }
}

/**
 * Never shorter than `ms`: a timer counts from the start of the event loop's turn, so that after busy code it fires
 * early, and an endpoint that is asked before its `Retry-After` is over may start the wait anew.
 */
async function sleepFully(ms: number, signal: AbortSignal): Promise<void> {
  const end = performance.now() + ms;
  for (let left = ms; left > 0; left = end - performance.now()) {
    await delay(Math.ceil(left), undefined, { signal });
  }
}

function cancelled(): Outcome {
  return { kind: 'aborted', message: 'The call was cancelled', status: null };
}
