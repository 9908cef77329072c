import { shareOf } from './percent.js';

/**
 * What a compaction folds: the oldest open messages, up to a share of the open context, never parting a tool
 * call from its results. The rules are written once, as a generator that asks for the few facts it needs: one
 * driver answers from an array of messages, the other with index seeks, whatever the length of the session.
 */

/** Positions are indexes among all conversation messages of the session; sizes are chars. */
export interface PlanInput {
  /** Where the open messages begin: the pointer, or 0 while there is no summary. */
  readonly from: number;
  /** Conversation messages in the session, open and folded. */
  readonly count: number;
  readonly openChars: number;
  readonly summaryChars: number;
  readonly percent: number;
  /** The newest n open messages stay out; 0 keeps none back. */
  readonly keepRecent: number;
  /** Everything from this position stays out: a turn or a task needs it as it is. */
  readonly holdFrom: { readonly position: number; readonly reason: HoldReason } | null;
}

export type HoldReason = 'pending_tool_calls' | 'turn_open';
export type UpToDateReason = 'nothing_new' | 'empty_text' | 'kept_recent' | HoldReason;

export type Plan =
  | { readonly kind: 'up_to_date'; readonly reason: UpToDateReason }
  /** Fold the messages from `PlanInput.from` up to `cut` (exclusive), which hold `chars`. */
  | { readonly kind: 'fold'; readonly cut: number; readonly chars: number; readonly target: number };

/** An assistant message with tool calls and the unbroken run of tool messages right after it. */
export interface ToolGroup {
  readonly start: number;
  /** Exclusive. */
  readonly end: number;
  readonly calls: number;
}

/** A fact the rules need; the answer's type follows `ask`. */
export type PlanQuestion =
  /** Position of the open message with which the running total of open chars reaches `chars`. -> number */
  | { readonly ask: 'crossing'; readonly chars: number }
  /** The open tool group that the open message at `position` belongs to. -> ToolGroup | null */
  | { readonly ask: 'group'; readonly position: number }
  /** Chars of the open messages before `position`. -> number */
  | { readonly ask: 'chars'; readonly before: number };

export type PlanAnswer = number | ToolGroup | null;

type Facts<T> = Generator<PlanQuestion, T, PlanAnswer>;

export function* planRules(input: PlanInput): Facts<Plan> {
  const { from, count, openChars, holdFrom, keepRecent } = input;
  if (count <= from) return upToDate('nothing_new');
  if (openChars === 0) return upToDate('empty_text');
  const target = shareOf(input.summaryChars + openChars, input.percent);
  if (target === 0) return upToDate('nothing_new');

  let cut = yield* oldestUpTo(target, input);
  cut = yield* afterItsGroup(cut, count);

  const pending = yield* pendingGroup(count);
  if (pending !== null && cut > pending.start) cut = pending.start;
  if (cut <= from) return upToDate('pending_tool_calls');

  if (holdFrom !== null && cut > holdFrom.position) cut = yield* beforeItsGroup(holdFrom.position, input);
  if (holdFrom !== null && cut <= from) return upToDate(holdFrom.reason);

  if (cut > count - keepRecent) cut = yield* beforeItsGroup(count - keepRecent, input);
  if (cut <= from) return upToDate('kept_recent');

  const chars = asNumber(yield { ask: 'chars', before: cut });
  if (chars === 0) return upToDate('empty_text');
  return { kind: 'fold', cut, chars, target };
}

const upToDate = (reason: UpToDateReason): Plan => ({ kind: 'up_to_date', reason });

/** The message that crosses the line is in: rounding up is wanted, and guarantees progress. */
function* oldestUpTo(target: number, { openChars, count }: PlanInput): Facts<number> {
  if (target > openChars) return count;
  return asNumber(yield { ask: 'crossing', chars: target }) + 1;
}

function* afterItsGroup(cut: number, count: number): Facts<number> {
  if (cut >= count) return cut;
  const group = asGroup(yield { ask: 'group', position: cut });
  return group !== null && group.start < cut ? group.end : cut;
}

function* beforeItsGroup(cut: number, { from, count }: PlanInput): Facts<number> {
  if (cut <= from) return from;
  if (cut >= count) return count;
  const group = asGroup(yield { ask: 'group', position: cut });
  return group === null ? cut : group.start;
}

/** Calls not all answered, and nothing after them but results: the missing results may still come. */
function* pendingGroup(count: number): Facts<ToolGroup | null> {
  const last = asGroup(yield { ask: 'group', position: count - 1 });
  if (last === null) return null;
  const results = last.end - last.start - 1;
  return results < last.calls ? last : null;
}

function asNumber(answer: PlanAnswer): number {
  if (typeof answer !== 'number') throw new TypeError('the plan asked for a number');
  return answer;
}

function asGroup(answer: PlanAnswer): ToolGroup | null {
  if (typeof answer === 'number') throw new TypeError('the plan asked for a group');
  return answer;
}
