import Database from 'better-sqlite3';
import { AppError } from '../../errors.js';

/** The SQLite error in an error or its causes; undefined when there is none. */
function sqliteError(error: unknown): InstanceType<typeof Database.SqliteError> | undefined {
  for (let current = error; current instanceof Error; current = current.cause) {
    if (current instanceof Database.SqliteError) return current;
  }
  return undefined;
}

export function isUniqueViolation(error: unknown): boolean {
  const code = sqliteError(error)?.code;
  return code === 'SQLITE_CONSTRAINT_UNIQUE' || code === 'SQLITE_CONSTRAINT_PRIMARYKEY';
}

/**
 * Full disks, locked or unreadable files and closed connections are the database's trouble, which passes:
 * 503 STORE_UNAVAILABLE. A broken constraint or statement is a fault of this program and stays as it is.
 */
export function asStoreError(error: unknown): unknown {
  if (error instanceof AppError) return error;
  const code = sqliteError(error)?.code;
  const ours = code === undefined || /^SQLITE_(CONSTRAINT|ERROR|MISMATCH|MISUSE|RANGE)/.test(code);
  if (ours && !isClosedConnection(error)) return error;
  return unavailable(code ?? 'the connection is closed', error);
}

export function unavailable(reason: string, cause?: unknown): AppError {
  return new AppError('STORE_UNAVAILABLE', `The database cannot be used: ${reason}`, {
    cause,
    retryAfterSeconds: 1,
  });
}

function isClosedConnection(error: unknown): boolean {
  return error instanceof TypeError && error.message === 'The database connection is not open';
}
