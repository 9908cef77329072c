import type { CompactResult } from '../../compaction/compact-result.js';
import { limitPlanner } from '../../compaction/plan-limit.js';
import { noteAutoOutcome } from '../../db/repositories/turn-leases.js';
import type { CompactionRow } from '../../db/tables.js';
import { AppError, type ErrorCode } from '../../errors.js';
import type { TurnContext } from '../../sessions/context-service.js';
import type { TurnCompaction } from '../turn/events.js';
import type { UpcomingCall } from '../turn/fitter.js';
import type { AutoParts } from './auto-fitter.js';

export interface AutoRound {
  readonly context: TurnContext;
  /** Chars that have to go for the context to fit. */
  readonly overChars: number;
  /** Estimated tokens of the context. */
  readonly tokens: number;
}

export interface RoundEnd {
  /** Null when it failed. */
  readonly compaction: TurnCompaction | null;
  /** Whether the open context is shorter than before. */
  readonly gained: boolean;
}

/** These say nothing about whether compacting works: they are not counted against the session. */
const PASSING: readonly ErrorCode[] = ['COMPACTION_IN_PROGRESS', 'SESSION_CHANGED', 'SHUTTING_DOWN'];

const GAINLESS = 'The summary was not shorter than what it replaced';

/**
 * One automatic compaction. Null when there was nothing to fold. Failures are told as events and counted; only what
 * ends the turn anyway is thrown.
 */
export async function runRound(
  parts: Pick<AutoParts, 'store' | 'compaction' | 'logger'>,
  call: UpcomingCall,
  { context, overChars, tokens }: AutoRound,
): Promise<RoundEnd | null> {
  const { store, compaction, logger } = parts;
  const { agent, turn, emit, signal } = call;
  const { instructions = null, keepRecent = 0, model = null } = agent.defaultCompaction ?? {};
  const note = (error: string | null) => store.tx((db) => noteAutoOutcome(db, turn.sessionPk, error));
  let result: CompactResult;
  try {
    result = await compaction.compactForTurn(
      {
        sessionPk: context.session.pk,
        keepRecent,
        instructions: instructions === null || instructions.trim() === '' ? null : instructions.trim(),
        model,
        plan: limitPlanner({ overChars, keepRecent }),
      },
      () => emit({ type: 'compaction-started', data: { estimatedTokens: tokens } }),
      signal,
    );
  } catch (error) {
    if (signal.aborted || !(error instanceof AppError) || error.code === 'SESSION_NOT_FOUND') throw error;
    const { code, message: detail } = error;
    emit({ type: 'compaction-failed', data: { code, detail } });
    logger.warn({ code, session: turn.sessionId }, 'automatic compaction failed');
    if (!PASSING.includes(code)) await note(`${code}: ${detail}`);
    return { compaction: null, gained: false };
  }
  if (result.kind !== 'compacted') return null;
  const done = compactionOf(result.record);
  const gained = done.charsAfter < done.charsBefore;
  await note(gained ? null : GAINLESS);
  emit({ type: 'compaction-finished', data: done });
  return { compaction: done, gained };
}

function compactionOf(record: CompactionRow): TurnCompaction {
  const { id, from_size, to_size, chars_before, chars_after } = record;
  return {
    id,
    fromSize: from_size,
    toSize: to_size,
    charsBefore: chars_before,
    charsAfter: chars_after,
  };
}
