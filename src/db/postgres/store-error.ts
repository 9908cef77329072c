import pg from 'pg';
import { AppError } from '../../errors.js';

/** The server's error in an error or its causes; undefined when there is none. */
export function serverError(error: unknown): pg.DatabaseError | undefined {
  for (let current = error; current instanceof Error; current = current.cause) {
    if (current instanceof pg.DatabaseError) return current;
  }
  return undefined;
}

export function isUniqueViolation(error: unknown): boolean {
  return serverError(error)?.code === '23505';
}

/**
 * Whether another run of the same transaction may succeed at once: it was chosen to give way to another
 * (40001, 40P01), or a migration changed what its prepared statement gives (0A000 with this text).
 */
export function mayRunAgain(error: unknown): boolean {
  const found = serverError(error);
  if (found?.code === '0A000') return found.message === 'cached plan must not change result type';
  return found?.code === '40001' || found?.code === '40P01';
}

/** What passes, by SQLSTATE or its class: the server or the way to it is in trouble, not the statement. */
const PASSING: readonly (readonly [RegExp, string])[] = [
  [/^55P03/, 'a lock was held for too long'],
  [/^57014/, 'a statement took too long'],
  [/^25P03/, 'a transaction was idle for too long'],
  [/^25006/, 'it takes no writes'],
  [/^53300/, 'it has too many connections'],
  [/^53/, 'it is out of resources'],
  [/^57P/, 'it is starting up or shutting down'],
  [/^(08|58|XX)/, 'it failed'],
  [/^28/, 'it refused the credentials'],
  [/^3D000/, 'it does not exist'],
];

/**
 * An unreachable server, one in trouble, and waits that took too long are the database's trouble, which passes: 503
 * STORE_UNAVAILABLE. A broken constraint or statement is a fault of this program and stays as it is, and so does
 * what a further run may mend.
 */
export function asStoreError(error: unknown): unknown {
  if (error instanceof AppError) return error;
  const found = serverError(error);
  if (found !== undefined) {
    const why = PASSING.find(([code]) => code.test(found.code ?? ''))?.[1];
    return why === undefined ? error : unavailable(`${why} (SQLSTATE ${found.code})`, error);
  }
  const lost = connectionTrouble(error);
  return lost === undefined ? error : unavailable(lost, error);
}

export function unavailable(reason: string, cause?: unknown): AppError {
  return new AppError('STORE_UNAVAILABLE', `The database cannot be used: ${reason}`, {
    cause,
    retryAfterSeconds: 1,
  });
}

/** Failures of the socket have a code of Node's; the driver says its own in words. */
function connectionTrouble(error: unknown): string | undefined {
  if (!(error instanceof Error)) return undefined;
  if ('syscall' in error || error instanceof AggregateError || /^Connection terminated/.test(error.message)) {
    const code = 'code' in error ? ` (${String(error.code)})` : '';
    return `the connection failed${code}`;
  }
  if (error.message === 'Query read timeout') return 'it does not answer';
  if (error.message === 'timeout exceeded when trying to connect') return 'no connection is free';
  if (/not queryable$|^Cannot use a pool|SSL|client password must be a string/.test(error.message))
    return 'there is no connection';
  return undefined;
}
