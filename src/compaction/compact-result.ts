import type { CompactionRow, SessionRow } from '../db/tables.js';
import type { UpToDateReason } from './plan.js';

/** What a compaction is asked, and what came of it. */

export interface CompactOptions {
  /** Percent of the open context, for this call only; the session's own otherwise. */
  readonly percent: number | null;
  readonly instructions: string | null;
  readonly keepRecent: number;
  readonly dryRun: boolean;
  /** Another model for this call only. */
  readonly model: string | null;
}

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
