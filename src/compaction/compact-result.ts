import type { CompactionRow, SessionRow } from '../db/tables.js';
import type { UpToDateReason } from './plan.js';

/** What a compaction is asked, and what came of it. */

export interface CompactOptions {
  /** Percent of the open context, for this call only; the session's own otherwise. */
  readonly percent: number | null;
  readonly instructions: string | null;
  /** Null takes what the session's agent says, else keeps none back. */
  readonly keepRecent: number | null;
  readonly dryRun: boolean;
  /** Another model for this call only. */
  readonly model: string | null;
}

/** What the agent of a session wants of every compaction; null where it says nothing. */
export interface CompactDefaults {
  readonly instructions: string | null;
  readonly keepRecent: number | null;
  readonly model: string | null;
}

/** The options with the agent's wishes among them: instructions are added to the caller's, the rest stands in. */
export function withDefaults(
  options: CompactOptions,
  { instructions, keepRecent, model }: CompactDefaults,
): CompactOptions & { readonly keepRecent: number } {
  const wishes = [instructions, options.instructions].filter((wish) => wish !== null && wish.trim() !== '');
  return {
    ...options,
    instructions: wishes.length === 0 ? null : wishes.join('\n\n'),
    keepRecent: options.keepRecent ?? keepRecent ?? 0,
    model: options.model ?? model,
  };
}

export const NO_DEFAULTS: CompactDefaults = { instructions: null, keepRecent: null, model: null };

export type CompactResult =
  | {
      readonly kind: 'up_to_date';
      readonly reason: UpToDateReason;
      readonly session: SessionRow;
      /** When the compaction that the summary comes from ended; ms since the epoch, null without one. */
      readonly lastCompactedAt: number | null;
    }
  | {
      readonly kind: 'preview';
      readonly session: SessionRow;
      readonly fromSize: number;
      readonly toSize: number;
      /** Of the open context now, of what would be folded, and at most afterwards. */
      readonly charsBefore: number;
      readonly charsFolded: number;
      readonly charsAfterAtMost: number;
    }
  | { readonly kind: 'compacted'; readonly session: SessionRow; readonly record: CompactionRow };
