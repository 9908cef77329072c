import { findCompaction } from '../db/repositories/compactions.js';
import type { Db } from '../db/store.js';
import type { SessionRow } from '../db/tables.js';

/** When the compaction that the session's summary comes from ended; ms since the epoch, null without one. */
export async function lastCompactedAt(db: Db, session: SessionRow): Promise<number | null> {
  const { pk, current_compaction_id: id } = session;
  return id === null ? null : ((await findCompaction(db, pk, id))?.finished_at ?? null);
}
