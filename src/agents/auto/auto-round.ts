import type { CompactResult } from '../../compaction/compact-result.js';
import { isLeftAlone } from '../../compaction/guarded-summarizer.js';
import { limitPlanner } from '../../compaction/plan-limit.js';
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
  /** Tokens of the context, by the estimate alone, and as the endpoint's own count corrects it. */
  readonly estimated: number;
  readonly tokens: number;
}

/** How a round ended; `nothing` means that there was nothing to fold. */
export type RoundEnd =
  | { readonly kind: 'nothing' }
  | { readonly kind: 'compacted'; readonly compaction: TurnCompaction }
  /** `counts` is false for what says nothing about whether compacting works. */
  | { readonly kind: 'failed'; readonly error: string; readonly counts: boolean };

/** These pass by themselves: they are not counted against the session. */
const PASSING: readonly ErrorCode[] = ['COMPACTION_IN_PROGRESS', 'SESSION_CHANGED', 'SHUTTING_DOWN'];

/** One automatic compaction. Failures are told as events; only what ends the turn anyway is thrown. */
export async function runRound(
  parts: Pick<AutoParts, 'compaction' | 'logger'>,
  call: UpcomingCall,
  { context, overChars, tokens }: AutoRound,
): Promise<RoundEnd> {
  const { compaction, logger } = parts;
  const { agent, turn, emit, signal } = call;
  const { instructions = null, keepRecent = 0, model = null } = agent.defaultCompaction ?? {};
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
    return {
      kind: 'failed',
      error: `${code}: ${detail}`,
      counts: !PASSING.includes(code) && !isLeftAlone(error),
    };
  }
  if (result.kind !== 'compacted') return { kind: 'nothing' };
  const done = compactionOf(result.record);
  emit({ type: 'compaction-finished', data: done });
  return { kind: 'compacted', compaction: done };
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
