import { AppError, type AppErrorOptions } from '../errors.js';
import type { Failure } from '../llm/outcome.js';

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
    case 'incomplete':
    case 'empty':
    case 'protocol':
      return new AppError('MODEL_UNAVAILABLE', detail, extensions);
  }
}

const seconds = (ms: number | null) => Math.max(1, Math.ceil((ms ?? 1_000) / 1_000));
