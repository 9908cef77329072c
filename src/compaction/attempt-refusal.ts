import { leaseRest } from '../db/repositories/leases.js';
import { findSessionByPk } from '../db/repositories/sessions.js';
import type { Db } from '../db/store.js';
import { AppError } from '../errors.js';

/** Why a lease could not be taken: the session is gone, closed, or being compacted. */
export async function whyNoLease(db: Db, sessionPk: number): Promise<AppError> {
  const gone = await goneOrClosed(db, sessionPk);
  if (gone !== null) return gone;
  const restMs = await leaseRest(db, sessionPk);
  return new AppError('COMPACTION_IN_PROGRESS', 'Another compaction of this session is at work', {
    retryAfterSeconds: Math.max(1, Math.ceil(restMs / 1_000)),
  });
}

/** Why a conditional commit matched no row. */
export async function whyNotCommitted(db: Db, sessionPk: number): Promise<AppError> {
  const changed =
    'The history or the summary changed, or the lease ran out, while the summary was being written';
  return (await goneOrClosed(db, sessionPk)) ?? new AppError('SESSION_CHANGED', changed);
}

async function goneOrClosed(db: Db, sessionPk: number): Promise<AppError | null> {
  const session = await findSessionByPk(db, sessionPk);
  if (session === null) return new AppError('SESSION_NOT_FOUND', 'The session was deleted');
  return session.status === 'closed' ? new AppError('SESSION_CLOSED', 'The session is closed') : null;
}
