import { messageAt } from '../db/repositories/messages.js';
import { positionAfterGroup, positionReaching } from '../db/repositories/plan-facts.js';
import type { Db } from '../db/store.js';
import type { SessionRow } from '../db/tables.js';
import { effectiveSize, effectiveSummary } from './context.js';
import {
  type Plan,
  type PlanAnswer,
  type PlanInput,
  type PlanQuestion,
  planRules,
  type ToolGroup,
} from './plan.js';

export type PlanRequest = Pick<PlanInput, 'percent' | 'keepRecent' | 'holdFrom'>;

export interface SessionPlan {
  readonly plan: Plan;
  /** Where the open messages begin. */
  readonly from: number;
  /** Chars of the open messages before `from`, by the session's running total. */
  readonly totalBefore: number;
  readonly summaryChars: number;
  /** Chars of the open messages. */
  readonly openChars: number;
}

/**
 * The plan for a stored session, by index seeks: the cost does not grow with the session.
 * Call it in one snapshot or transaction together with the read of `session`.
 */
export async function planSession(db: Db, session: SessionRow, request: PlanRequest): Promise<SessionPlan> {
  const { pk, conversation_count: count, total_chars: total } = session;
  const from = effectiveSize(session);
  const summaryChars = effectiveSummary(session.compact_summary)?.length ?? 0;
  const totalBefore = await charsBefore(db, pk, from);
  const openChars = total - totalBefore;

  const answer = async (question: PlanQuestion): Promise<PlanAnswer> => {
    switch (question.ask) {
      case 'crossing':
        return (await positionReaching(db, pk, totalBefore + question.chars)) ?? count - 1;
      case 'group':
        return groupAt(db, pk, question.position, from, count);
      case 'chars':
        return (await charsBefore(db, pk, question.before)) - totalBefore;
    }
  };
  const rules = planRules({ ...request, from, summaryChars, count, openChars });
  let step = rules.next();
  while (!step.done) step = rules.next(await answer(step.value));
  return { plan: step.value, from, totalBefore, summaryChars, openChars };
}

/** Chars of all conversation messages before `position`. */
export async function charsBefore(db: Db, sessionPk: number, position: number): Promise<number> {
  return position === 0 ? 0 : ((await messageAt(db, sessionPk, position - 1))?.running_total ?? 0);
}

export async function groupAt(
  db: Db,
  sessionPk: number,
  position: number,
  from: number,
  count: number,
): Promise<ToolGroup | null> {
  const message = await messageAt(db, sessionPk, position);
  if (message === null || message.group_start === null || message.group_start < from) return null;
  const start = message.group_start;
  const head = start === position ? message : await messageAt(db, sessionPk, start);
  if (head === null || head.tool_call_count === 0) return null;
  const end = (await positionAfterGroup(db, sessionPk, message.seq, start)) ?? count;
  return { start, end, calls: head.tool_call_count };
}
