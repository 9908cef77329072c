import { type AppError, ERROR_CATALOGUE } from '../errors.js';

/** An error as problem details (RFC 9457). `instance` is the id of the request. */
export function problemOf(error: AppError, instance: string): Record<string, unknown> {
  const { title, status } = ERROR_CATALOGUE[error.code];
  const { errors, extensions } = error.options;
  return {
    type: `urn:compactd:problem:${error.code.toLowerCase().replaceAll('_', '-')}`,
    title,
    status,
    detail: error.message,
    instance,
    code: error.code,
    retryable: error.retryable,
    ...(errors === undefined ? {} : { errors }),
    ...extensions,
  };
}
