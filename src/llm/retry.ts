import { setTimeout as delay } from 'node:timers/promises';
import type { AttemptResult } from './attempt.js';
import type { CallResult, Failure, Outcome } from './outcome.js';
import { NO_USAGE, sum } from './usage.js';

const FIRST_BACKOFF_MS = 500;
const LONGEST_BACKOFF_MS = 8_000;
/** A longer hint is not waited for: the caller is told at once, with the hint. */
const LONGEST_HINT_MS = 60_000;
/** Spread added to a hint, so that clients that were refused together do not come back together, in ms. */
const HINT_SPREAD_MS = 100;

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
  /** From 0 up to, not including, 1. */
  readonly random?: (() => number) | undefined;
  /** Rejects when the signal fires. */
  readonly sleep?: ((ms: number, signal: AbortSignal) => Promise<unknown>) | undefined;
  readonly onFailure?: ((event: RetryEvent) => void) | undefined;
  /** Changes the request after a refusal if that can help, and says how in one phrase; null when it cannot. */
  readonly change?: ((result: AttemptResult) => string | null) | undefined;
}

/**
 * The only place that sends a request again. It looks at what an attempt came to and nothing else, so that no
 * second layer can multiply the requests.
 *
 * A request that was lost on a connection the server had already closed never reached the server: it is sent
 * again at once, one time per call, and does not count against `retries` (it does count in `requests`). The same
 * holds for a request that was refused for its form and goes out in another one.
 */
export async function withRetries(
  send: () => Promise<AttemptResult>,
  options: RetryOptions,
): Promise<CallResult> {
  const random = options.random ?? Math.random;
  const sleep = options.sleep ?? sleepFully;
  const state: RetryState = { used: 0, doubtful: 0 };
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
    const change = options.change?.(result) ?? null;
    let waitMs: number | null;
    if (change !== null) {
      waitMs = 0;
    } else if (result.staleConnection && !staleResent) {
      staleResent = true;
      waitMs = 0;
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

interface RetryState {
  used: number;
  doubtful: number;
}

/** Time to wait before the next request, in ms; null when there must not be one. */
function waitBeforeRetry(
  result: AttemptResult,
  failure: Failure,
  state: RetryState,
  retries: number,
  random: () => number,
): number | null {
  if (result.isDoubtful) state.doubtful += 1;
  if (state.used >= retries || state.doubtful > 1 || !mayRetry(result, failure)) return null;
  const hint = 'retryAfterMs' in failure ? failure.retryAfterMs : null;
  if (hint !== null && hint > LONGEST_HINT_MS) return null;
  const step = Math.min(FIRST_BACKOFF_MS * 2 ** state.used, LONGEST_BACKOFF_MS);
  state.used += 1;
  // A hint of 0 is no hint: sending again at once is what a failing endpoint needs least.
  if (hint !== null && hint > 0) return hint + Math.floor(random() * HINT_SPREAD_MS);
  return Math.ceil(step / 2 + (random() * step) / 2);
}

function mayRetry({ retryAdvice }: AttemptResult, failure: Failure): boolean {
  if (failure.kind === 'aborted' || failure.kind === 'timeout') return isWorthRetrying(failure);
  return retryAdvice ?? isWorthRetrying(failure);
}

/**
 * Whether the same request may pass when it is sent again. A call that ran out of time in the model is not
 * repeated: it has cost its full price, and the caller has waited long enough.
 */
function isWorthRetrying(failure: Failure): boolean {
  switch (failure.kind) {
    case 'rate_limited':
    case 'unavailable':
    case 'incomplete':
    case 'empty':
      return true;
    case 'protocol':
      return failure.status !== null && (isSuccess(failure.status) || failure.status >= 500);
    case 'timeout':
      return failure.clock === 'connect';
    default:
      return false;
  }
}

function isSuccess(status: number): boolean {
  return status >= 200 && status < 300;
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
