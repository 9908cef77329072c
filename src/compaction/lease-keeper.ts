import { renewLease } from '../db/repositories/leases.js';
import type { Db, Store } from '../db/store.js';
import { AppError } from '../errors.js';

export interface LeaseTimes {
  /** How long a lease lasts without renewal, in ms: what a crash may block a session for. */
  readonly leaseMs: number;
  /** How often it is renewed while working, in ms. */
  readonly renewMs: number;
}

/**
 * Renews a compaction's lease until `stop`. When the lease turns out to be lost, by a reset or a pause longer
 * than the lease, `onLost` gets the error that the work must end with: its commit would be refused anyway.
 *
 * @param renewToo renews, in the same transaction, what must last as long as the lease; false when it was lost
 */
export function keepLease(
  store: Store,
  sessionPk: number,
  owner: string,
  { leaseMs, renewMs }: LeaseTimes,
  onLost: (error: AppError) => void,
  renewToo?: (db: Db) => Promise<boolean>,
): { stop(): void } {
  const timer = setInterval(() => {
    store
      .tx(
        async (db) =>
          (await renewLease(db, sessionPk, owner, leaseMs)) &&
          (renewToo === undefined || (await renewToo(db))),
      )
      .then((held) => {
        if (!held)
          onLost(new AppError('SESSION_CHANGED', 'The session changed while it was being compacted'));
      })
      // A database that cannot be reached now may be back before the lease runs out; the commit decides.
      .catch(() => {});
  }, renewMs);
  timer.unref();
  return { stop: () => clearInterval(timer) };
}
