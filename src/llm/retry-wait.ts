import type { AttemptResult } from './attempt.js';
import type { Failure } from './outcome.js';
import { isLoadingModel } from './refusal-words.js';

const FIRST_BACKOFF_MS = 500;
const LONGEST_BACKOFF_MS = 8_000;
/** A longer hint is not waited for: the caller is told at once, with the hint. */
const LONGEST_HINT_MS = 60_000;
/** Spread added to a hint, so that clients that were refused together do not come back together, in ms. */
const HINT_SPREAD_MS = 100;

/** What one call has used up of its retries. */
export interface RetryState {
  used: number;
  doubtful: number;
}

/** Time to wait before the next request, in ms; null when there must not be one. */
export function waitBeforeRetry(
  result: AttemptResult,
  failure: Failure,
  state: RetryState,
  retries: number,
  random: () => number,
): number | null {
  if (result.isDoubtful) state.doubtful += 1;
  if (state.used >= retries || state.doubtful > 1 || !mayRetry(result, failure)) return null;
  const hint = hintOf(failure);
  if (hint !== null && hint > LONGEST_HINT_MS) return null;
  const step = Math.min(FIRST_BACKOFF_MS * 2 ** state.used, LONGEST_BACKOFF_MS);
  state.used += 1;
  // A hint of 0 is no hint: sending again at once is what a failing endpoint needs least.
  if (hint !== null && hint > 0) return hint + Math.floor(random() * HINT_SPREAD_MS);
  return Math.ceil(step / 2 + (random() * step) / 2);
}

/** How long the endpoint asks to wait, in ms; null when it does not. */
export function hintOf(failure: Failure): number | null {
  return 'retryAfterMs' in failure ? failure.retryAfterMs : null;
}

export function isLoading({ outcome, refusal, retryAdvice }: AttemptResult): boolean {
  if (outcome.kind !== 'unavailable' || refusal === null || retryAdvice === false) return false;
  const status = outcome.status !== null && outcome.status >= 400 ? outcome.status : refusal.status;
  return status === 503 && isLoadingModel(refusal);
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
