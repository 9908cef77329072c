import { MAX_AUTO_FAILURES } from '../agents/auto/max-failures.js';
import type { CompactResult } from '../compaction/compact-result.js';
import { effectiveSize } from '../compaction/context.js';
import { INTERRUPTED_DETAIL } from '../db/repositories/compactions.js';
import type { CompactionRow, SessionRow } from '../db/tables.js';

/** Rows as clients read them. */

export const iso = (ms: number) => new Date(ms).toISOString();
export const isoOrNull = (ms: number | null) => (ms === null ? null : iso(ms));

export function presentSession(row: SessionRow) {
  const metadata: object | null = row.metadata === null ? null : JSON.parse(row.metadata);
  return {
    id: row.id,
    agent: row.agent,
    parent_session_id: row.parent_session_id,
    kind: row.kind,
    status: row.status,
    title: row.title,
    metadata,
    compact_summary: row.compact_summary,
    compact_size: row.compact_size,
    compact_count: row.compact_count,
    message_count: row.message_count,
    input_tokens: row.input_tokens,
    output_tokens: row.output_tokens,
    auto_compaction: {
      state: row.auto_failures >= MAX_AUTO_FAILURES ? ('stopped' as const) : ('on' as const),
      failures: row.auto_failures,
      error: row.auto_error,
    },
    revision: row.revision,
    version: row.version,
    created_at: iso(row.created_at),
    updated_at: iso(row.updated_at),
    closed_at: isoOrNull(row.closed_at),
  };
}

/** @param liveOwner the lease token at work on the session now: a running record of another owner is dead */
export function presentCompaction(row: CompactionRow, liveOwner: string | null) {
  const dead = row.outcome === 'running' && row.lease_owner !== liveOwner;
  return {
    id: row.id,
    predecessor_id: row.predecessor_id,
    trigger: row.trigger,
    outcome: dead ? (row.to_size > row.from_size ? 'partial' : 'failed') : row.outcome,
    error_code: dead ? 'INTERRUPTED' : row.error_code,
    error_detail: dead ? INTERRUPTED_DETAIL : row.error_detail,
    from_size: row.from_size,
    to_size: row.to_size,
    compact_count: row.compact_count,
    keep_recent: row.keep_recent,
    instructions: row.instructions,
    summary: row.summary,
    chars_before: row.chars_before,
    chars_after: row.chars_after,
    model: row.model,
    requests: row.requests,
    usage: { input_tokens: row.input_tokens, output_tokens: row.output_tokens },
    duration_ms: row.duration_ms,
    created_at: iso(row.created_at),
    finished_at: isoOrNull(row.finished_at),
  };
}

export function presentCompactResult(result: CompactResult, dryRun: boolean) {
  const session = presentSession(result.session);
  const asked = dryRun ? { dryRun: true } : {};
  switch (result.kind) {
    case 'up_to_date':
      return {
        sessionId: session.id,
        compactedCount: 0,
        newSize: effectiveSize(result.session),
        alreadyUpToDate: true,
        reason: result.reason,
        lastCompactedAt: isoOrNull(result.lastCompactedAt),
        ...asked,
        session,
      };
    case 'preview':
      return {
        sessionId: session.id,
        compactedCount: result.toSize - result.fromSize,
        newSize: result.toSize,
        alreadyUpToDate: false,
        ...asked,
        charsBefore: result.charsBefore,
        charsFolded: result.charsFolded,
        charsAfterAtMost: result.charsAfterAtMost,
        session,
        compaction: null,
      };
    case 'compacted':
      return {
        sessionId: session.id,
        compactedCount: result.record.to_size - result.record.from_size,
        newSize: result.record.to_size,
        alreadyUpToDate: false,
        session,
        compaction: presentCompaction(result.record, null),
      };
  }
}
