import { AppError, type AppErrorOptions } from '../errors.js';
import type { Failure } from '../llm/outcome.js';
import { isRedirect } from '../llm/redirect.js';

/**
 * The error a client gets for a failed model call. An endpoint's 401 or 429 is never passed through as ours:
 * the caller would take it for its own credentials or its own limit.
 */
export function modelError(failure: Failure, model: string, extensions: AppErrorOptions = {}): AppError {
  const detail = `${model}: ${failure.message}`;
  switch (failure.kind) {
    case 'overflow':
      return new AppError('CONTEXT_OVERFLOW', detail, extensions);
    case 'rate_limited':
      return new AppError('MODEL_RATE_LIMITED', detail, {
        retryAfterSeconds: seconds(failure.retryAfterMs),
        ...extensions,
      });
    case 'quota':
      return new AppError('MODEL_QUOTA', detail, extensions);
    case 'auth':
      return new AppError('MODEL_AUTH', detail, extensions);
    case 'policy':
      return new AppError('SUMMARY_REFUSED', detail, extensions);
    case 'bad_request':
      return new AppError('MODEL_REJECTED', detail, extensions);
    case 'timeout':
      return new AppError('MODEL_TIMEOUT', detail, extensions);
    case 'aborted':
      return new AppError('REQUEST_CANCELLED', detail, extensions);
    case 'unavailable':
      return failure.retryAfterMs === null
        ? new AppError('MODEL_UNAVAILABLE', detail, extensions)
        : new AppError('MODEL_UNAVAILABLE', detail, {
            retryAfterSeconds: seconds(failure.retryAfterMs),
            ...extensions,
          });
    case 'protocol':
      // A redirect stays one until the settings change.
      return failure.status !== null && isRedirect(failure.status)
        ? new AppError('MODEL_REJECTED', detail, extensions)
        : new AppError('MODEL_UNAVAILABLE', detail, extensions);
    case 'incomplete':
    case 'empty':
      return new AppError('MODEL_UNAVAILABLE', detail, extensions);
  }
}

/** Longest `Retry-After` that is passed on, in seconds: a day. */
const LONGEST_RETRY_AFTER = 86_400;

/** What a `Retry-After` may say: whole seconds, from 1 to a day, whatever the endpoint said. */
function seconds(ms: number | null): number {
  const asked = Math.ceil((ms ?? 0) / 1_000);
  return Number.isNaN(asked) ? 1 : Math.min(Math.max(asked, 1), LONGEST_RETRY_AFTER);
}
