import type { Planner } from './attempt.js';
import type { CompactOptions } from './compact-result.js';
import { holdOf } from './hold.js';
import { usablePercent } from './percent.js';
import { planSession } from './plan-session.js';

/** The plan of a compaction by hand: the given share, or the session's own, of what nothing holds. */
export function plannerOf({
  percent,
  keepRecent,
}: Pick<CompactOptions, 'percent'> & { readonly keepRecent: number }): Planner {
  return async (db, session) => {
    const share = percent ?? usablePercent(session.compact_count);
    const holdFrom = await holdOf(db, session);
    return {
      ...(await planSession(db, session, { percent: share, keepRecent, holdFrom })),
      percent: share,
      carried: null,
    };
  };
}
