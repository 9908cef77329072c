import type { LeaseTimes } from '../../compaction/lease-keeper.js';
import { renewTurn } from '../../db/repositories/turn-leases.js';
import type { Db, Store } from '../../db/store.js';
import type { AppError } from '../../errors.js';
import { whyLost } from './commit.js';
import type { OpenTurn } from './open-turn.js';

/**
 * Renews a turn's lease, and what hangs on it, until `stop`. When it turns out to be lost, by a delete or a pause
 * longer than the lease, `onLost` gets the error that the turn must end with: its writes would be refused anyway.
 *
 * @param alsoRenew in the same transaction; gives the error to end with when the turn must stop
 */
export function keepTurn(
  store: Store,
  turn: OpenTurn,
  { leaseMs, renewMs }: LeaseTimes,
  alsoRenew: (db: Db) => Promise<AppError | null>,
  onLost: (error: AppError) => void,
): { stop(): void } {
  const timer = setInterval(() => {
    store
      .tx(async (db) => {
        const held = await renewTurn(db, turn.sessionPk, turn.owner, leaseMs);
        return held ? alsoRenew(db) : whyLost(db, turn.sessionPk);
      })
      .then((lost) => {
        if (lost !== null) onLost(lost);
      })
      // A database that cannot be reached now may be back before the lease runs out; the next write decides.
      .catch(() => {});
  }, renewMs);
  timer.unref();
  return { stop: () => clearInterval(timer) };
}
