import { messageAt } from '../db/repositories/messages.js';
import { positionReaching } from '../db/repositories/plan-facts.js';
import type { Db } from '../db/store.js';
import type { SessionRow } from '../db/tables.js';
import type { Planned, Planner } from './attempt.js';
import { holdOf } from './hold.js';
import { shareOf, usablePercent } from './percent.js';
import { charsBefore, groupAt, planSession, type SessionPlan } from './plan-session.js';

/** The largest share there is: with it a plan reaches as far as its holds let it. */
const ALL = 99;
/** A new summary is expected to be about as long as the one before, and at least this, in chars. */
const EXPECTED_SUMMARY_CHARS = 2_000;

/**
 * The plan of an automatic compaction: the session's own share, if that frees enough; else all that is before the
 * open turn; else answered tool groups of the turn as well, oldest first, never the last one. A long tool loop
 * would otherwise outgrow any window. The turn's user message is then carried: it is left out of the transcript.
 *
 * @param overChars chars that have to go for the context to fit
 */
export function limitPlanner({ overChars, keepRecent }: { overChars: number; keepRecent: number }): Planner {
  return async (db, session) => {
    const percent = usablePercent(session.compact_count);
    const holdFrom = await holdOf(db, session);
    const share = await planSession(db, session, { percent, keepRecent, holdFrom });
    if (freed(share) >= overChars) return { ...share, percent, carried: null };
    const all = await planSession(db, session, { percent: ALL, keepRecent, holdFrom });
    if (freed(all) >= overChars) return { ...all, percent: ALL, carried: null };
    const beyond = await planIntoTurn(db, session, all, overChars);
    return beyond ?? { ...all, percent: ALL, carried: null };
  };
}

/** Chars by which the open context shrinks, by what summaries usually come to. */
function freed({ plan, summaryChars }: SessionPlan): number {
  if (plan.kind !== 'fold') return 0;
  return summaryChars + plan.chars - Math.max(summaryChars, EXPECTED_SUMMARY_CHARS);
}

/** Folds into the open turn; null when there is no such turn, or nothing in it that may be folded. */
async function planIntoTurn(
  db: Db,
  session: SessionRow,
  { from, totalBefore, summaryChars, openChars }: SessionPlan,
  overChars: number,
): Promise<Planned | null> {
  const { pk, turn_position: turn, conversation_count: count } = session;
  if (turn === null) return null;
  const last = await messageAt(db, pk, count - 1);
  const held = await holdOf(db, { ...session, turn_position: null });
  const end = Math.min(last?.group_start ?? 0, held?.position ?? count);
  // A turn that began with results has no user message: its first group is folded like any other.
  const opening = await messageAt(db, pk, turn);
  const carried = opening?.role === 'user' ? turn : null;
  const start = Math.max(from, carried === null ? turn : turn + 1);
  if (end <= start) return null;

  const openingChars =
    carried === null || carried < from
      ? 0
      : (opening?.running_total ?? 0) - (await charsBefore(db, pk, turn));
  const growth = Math.max(summaryChars, EXPECTED_SUMMARY_CHARS) - summaryChars;
  // At least the session's share, or the next step of the loop would be over the limit again.
  const target = Math.max(overChars + growth, shareOf(openChars, usablePercent(session.compact_count)));
  const reached = await positionReaching(db, pk, totalBefore + target + openingChars);
  const crossing = Math.max(Math.min(reached ?? end, end - 1), start);
  const group = await groupAt(db, pk, crossing, start, count);
  const cut = Math.min(group?.end ?? crossing + 1, end);
  const chars = (await charsBefore(db, pk, cut)) - totalBefore - openingChars;
  if (cut <= from || chars <= 0) return null;
  const plan = { kind: 'fold', cut, chars, target } as const;
  return { plan, from, totalBefore, summaryChars, openChars, percent: ALL, carried };
}
