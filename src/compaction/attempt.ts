import {
  type CompactionProgress,
  commitSummary,
  failAbandoned,
  insertCompaction,
  type NewCompaction,
  updateCompaction,
} from '../db/repositories/compactions.js';
import { releaseLease, takeLease } from '../db/repositories/leases.js';
import type { Db, Store } from '../db/store.js';
import type { CompactionRow, SessionRow } from '../db/tables.js';
import type { AppError } from '../errors.js';
import { newId, newLeaseToken } from '../ids.js';
import { whyNoLease, whyNotCommitted } from './attempt-refusal.js';
import type { CompactResult } from './compact-result.js';
import { effectiveSummary } from './context.js';
import type { FoldStep } from './fold.js';
import type { KeyClaim } from './key-claim.js';
import { lastCompactedAt } from './last-compacted.js';
import type { Ledger } from './ledger.js';
import { charsBefore, type SessionPlan } from './plan-session.js';

/** What an attempt starts from. */
export interface AttemptStart {
  readonly sessionPk: number;
  readonly leaseMs: number;
  readonly model: string;
  readonly trigger: CompactionRow['trigger'];
  readonly keepRecent: number;
  readonly instructions: string | null;
  /** Decides what to fold, on the session as it is under the lease. */
  readonly plan: Planner;
  /** Of a request with an Idempotency-Key: it lives and ends with the attempt. */
  readonly claim?: KeyClaim | null;
}

/** A plan, and how it was made. */
export interface Planned extends SessionPlan {
  readonly percent: number;
  /** Position of the user message of the open turn, when the cut is past it; null as a rule. */
  readonly carried: number | null;
}

export type Planner = (db: Db, session: SessionRow) => Promise<Planned>;

export type OpenedAttempt =
  | Extract<CompactResult, { kind: 'up_to_date' }>
  | { readonly kind: 'opened'; readonly attempt: Attempt; readonly from: number; readonly cut: number };

/**
 * One attempt to compact a session, from its lease to its end: the only writer of summaries. Each write is
 * one short transaction; no model call runs inside one.
 */
export class Attempt {
  readonly owner: string;
  readonly #store: Store;
  readonly #clock: () => number;
  readonly #startedAt = performance.now();
  readonly #planned: Planned;
  readonly #claim: KeyClaim | null;
  #session: SessionRow;
  #record: CompactionRow;

  private constructor(
    store: Store,
    clock: () => number,
    opened: {
      owner: string;
      session: SessionRow;
      record: CompactionRow;
      planned: Planned;
      claim: KeyClaim | null;
    },
  ) {
    this.#store = store;
    this.#clock = clock;
    this.owner = opened.owner;
    this.#planned = opened.planned;
    this.#claim = opened.claim;
    this.#session = opened.session;
    this.#record = opened.record;
  }

  /**
   * Takes the session's lease, plans under it and opens a record. Throws COMPACTION_IN_PROGRESS while another
   * attempt holds the lease; leaves it untouched when there is nothing to fold. The key comes first: a request that
   * is sent twice is told so, rather than that it is in its own way.
   */
  static async open(store: Store, clock: () => number, start: AttemptStart): Promise<OpenedAttempt> {
    const owner = newLeaseToken();
    const { claim = null } = start;
    return store.tx(async (db): Promise<OpenedAttempt> => {
      await claim?.open(db, owner, start.leaseMs, clock());
      const session = await takeLease(db, start.sessionPk, owner, start.leaseMs);
      if (session === null) throw await whyNoLease(db, start.sessionPk);
      const planned = await start.plan(db, session);
      const { plan, from, percent } = planned;
      if (plan.kind === 'up_to_date') {
        await releaseLease(db, session.pk, owner);
        const at = await lastCompactedAt(db, session);
        const result = { kind: 'up_to_date', reason: plan.reason, session, lastCompactedAt: at } as const;
        await claim?.answer(db, result);
        return result;
      }
      const now = clock();
      await failAbandoned(db, session.pk, owner, now);
      const record = await insertCompaction(
        db,
        newRecord(session, planned, { ...start, owner, percent, now }),
      );
      const attempt = new Attempt(store, clock, { owner, session, record, planned, claim });
      return { kind: 'opened', attempt, from, cut: plan.cut };
    });
  }

  /** The session as of the lease or the last committed step. */
  get session(): SessionRow {
    return this.#session;
  }

  /** Position of the message that it carries past the pointer; null without one. */
  get carried(): number | null {
    return this.#planned.carried;
  }

  get record(): CompactionRow {
    return this.#record;
  }

  /**
   * Commits summary, pointer and record together; `last` also ends the attempt, gives the lease back and answers
   * the key.
   * Throws SESSION_NOT_FOUND, SESSION_CLOSED or SESSION_CHANGED when the session is not as it was left.
   */
  async commit(step: FoldStep, ledger: Ledger, last: boolean): Promise<void> {
    const sessionPk = this.#session.pk;
    const { session, record } = await this.#store.tx(async (db) => {
      const now = this.#clock();
      const committed = await commitSummary(
        db,
        {
          sessionPk,
          owner: this.owner,
          revision: this.#session.revision,
          summary: step.summary,
          size: step.size,
          compactionId: this.#record.id,
          carried: carriedAfter(this.#planned, step.size),
          manual: this.#record.trigger === 'manual',
        },
        now,
      );
      if (committed === null) throw await whyNotCommitted(db, sessionPk);
      const { openChars, totalBefore } = this.#planned;
      const folded = (await charsBefore(db, sessionPk, step.size)) - totalBefore;
      const updated = await this.#update(db, {
        ...this.#costs(ledger),
        summary: step.summary,
        to_size: step.size,
        chars_after: openChars - folded + step.summary.length,
        ...(last ? { outcome: 'completed', finished_at: now } : {}),
      });
      if (last) {
        await releaseLease(db, sessionPk, this.owner);
        await this.#claim?.answer(db, { kind: 'compacted', session: committed, record: updated });
      }
      return { session: committed, record: updated };
    });
    this.#session = session;
    this.#record = record;
  }

  /** Ends the attempt, after its last step or after a failure, and gives lease and key back. */
  async end(ledger: Ledger, failure: AppError | null): Promise<void> {
    const moved = this.#record.to_size > this.#record.from_size;
    this.#record = await this.#store.tx(async (db) => {
      await releaseLease(db, this.#session.pk, this.owner);
      const record = await this.#update(db, {
        ...this.#costs(ledger),
        outcome: failure === null ? 'completed' : moved ? 'partial' : 'failed',
        error_code: failure?.code ?? null,
        error_detail: failure?.message ?? null,
        finished_at: this.#clock(),
      });
      await (failure === null
        ? this.#claim?.answer(db, { kind: 'compacted', session: this.#session, record })
        : this.#claim?.release(db));
      return record;
    });
  }

  /** The record may be gone with its session, or by a reset: then what is known stays in memory only. */
  async #update(db: Db, progress: CompactionProgress): Promise<CompactionRow> {
    return (await updateCompaction(db, this.#record.pk, progress)) ?? { ...this.#record, ...progress };
  }

  #costs(ledger: Ledger): CompactionProgress {
    return {
      ...(ledger.answeredBy === null ? {} : { model: ledger.answeredBy }),
      requests: ledger.requests,
      input_tokens: ledger.inputTokens,
      output_tokens: ledger.outputTokens,
      duration_ms: Math.round(performance.now() - this.#startedAt),
    };
  }
}

/**
 * The message of the open turn, when the pointer has passed it: no summary covers it, contexts repeat it until a
 * compaction after the turn folds it.
 */
function carriedAfter({ carried }: Planned, size: number): number | null {
  return carried !== null && carried < size ? carried : null;
}

function newRecord(
  session: SessionRow,
  { from, summaryChars, openChars }: SessionPlan,
  start: AttemptStart & { owner: string; percent: number; now: number },
): NewCompaction {
  return {
    session_pk: session.pk,
    id: newId('cmp', start.now),
    // Without a summary to build on, the chain begins anew.
    predecessor_id: effectiveSummary(session.compact_summary) === null ? null : session.current_compaction_id,
    lease_owner: start.owner,
    trigger: start.trigger,
    outcome: 'running',
    from_size: from,
    to_size: from,
    compact_count: start.percent,
    keep_recent: start.keepRecent,
    instructions: start.instructions,
    chars_before: summaryChars + openChars,
    chars_after: summaryChars + openChars,
    model: start.model,
    requests: 0,
    duration_ms: 0,
    created_at: start.now,
  };
}
