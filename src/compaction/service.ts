import { findSession } from '../db/repositories/sessions.js';
import type { Db, Store } from '../db/store.js';
import type { CompactionRow, SessionRow } from '../db/tables.js';
import { AppError } from '../errors.js';
import type { Answered, Keyed } from '../idempotency/answer-once.js';
import { findAnswer } from '../idempotency/claims.js';
import type { CallOrigin } from '../llm/circuit-breaker.js';
import type { Logger } from '../logger.js';
import { Attempt, type AttemptStart, type OpenedAttempt } from './attempt.js';
import { batchOf } from './batch.js';
import { summaryLimit } from './budget.js';
import { ChunkReader } from './chunk-reader.js';
import {
  type CompactDefaults,
  type CompactOptions,
  type CompactResult,
  NO_DEFAULTS,
  withDefaults,
} from './compact-result.js';
import { effectiveSummary } from './context.js';
import { foldBatch } from './fold.js';
import { AnsweredBefore, KeyClaim } from './key-claim.js';
import { lastCompactedAt } from './last-compacted.js';
import { keepLease, type LeaseTimes } from './lease-keeper.js';
import { Ledger } from './ledger.js';
import type { Plan } from './plan.js';
import type { SessionPlan } from './plan-session.js';
import { plannerOf } from './planner.js';
import { RunningWork } from './running-work.js';
import type { Summarizer } from './summarizer.js';

export interface CompactionSettings extends LeaseTimes {
  /** Longest summary that is stored, in chars. */
  readonly summaryMaxChars: number;
  /** Tool results longer than this are excerpted in the transcript, in chars. */
  readonly toolResultChars: number;
}

type FoldPlan = Extract<Plan, { kind: 'fold' }>;

interface Parts {
  readonly store: Store;
  /** Ms since the epoch, for the times that people read; order and leases never depend on it. */
  readonly clock: () => number;
  /** The summarizer for a call; throws MODEL_NOT_CONFIGURED for a model that cannot be used. */
  readonly summarizerFor: (model: string | null, origin: CallOrigin) => Summarizer;
  /** What an agent wants of the compactions of its sessions. */
  readonly defaultsOf: (db: Db, tenant: string, agent: string) => Promise<CompactDefaults>;
  readonly settings: CompactionSettings;
  readonly logger: Logger;
}

/** What one compaction is to do, whoever asked for it. */
type Work = Omit<AttemptStart, 'leaseMs' | 'model'> & {
  /** Called when there is something to fold, before the summarizer is. */
  readonly onStart?: () => void;
};

/** Folds sessions: plan, lease, summarize, commit step by step. See `docs/compaction.md`. */
export class CompactionService {
  readonly #parts: Parts;
  readonly #running = new RunningWork();

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  /**
   * Compacts one session once. The pointer moves at the end of each committed step; after an error the
   * session is as it was, or at the last of them, and the error says which.
   *
   * @param signal fires when the caller goes away; what is not committed by then is dropped
   */
  compact(tenant: string, id: string, options: CompactOptions, signal: AbortSignal): Promise<CompactResult> {
    return this.#compact(tenant, id, options, null, signal);
  }

  /**
   * As `compact`, once for each key: the answer is stored with what ends the compaction. After a failure, or once
   * the lease of a process that died has run out, the same request compacts what is left. Not for previews.
   */
  async compactOnce(
    tenant: string,
    id: string,
    options: CompactOptions,
    key: Keyed<CompactResult>,
    signal: AbortSignal,
  ): Promise<Answered> {
    // Before the session is looked at: it may be closed or gone by now, and the answer stays what it was.
    const before = await findAnswer(this.#parts.store.read, key.request);
    if (before !== null) return { answer: before, replayed: true };
    try {
      const result = await this.#compact(tenant, id, options, new KeyClaim(key), signal);
      return { answer: key.answer(result), replayed: false };
    } catch (error) {
      if (error instanceof AnsweredBefore) return { answer: error.answer, replayed: true };
      throw error;
    }
  }

  async #compact(
    tenant: string,
    id: string,
    given: CompactOptions,
    claim: KeyClaim | null,
    signal: AbortSignal,
  ): Promise<CompactResult> {
    const { session, options, planned, lastCompactedAt } = await this.#plan(tenant, id, given);
    const { plan } = planned;
    if (plan.kind === 'up_to_date') {
      const { store, clock } = this.#parts;
      const result = { kind: 'up_to_date', reason: plan.reason, session, lastCompactedAt } as const;
      if (claim !== null) await store.tx((db) => claim.settle(db, result, clock()));
      return result;
    }
    const summarizer = this.#parts.summarizerFor(options.model, 'manual');
    if (options.dryRun) return this.#preview(session, planned, plan, summarizer);
    const { keepRecent, instructions } = options;
    const planner = plannerOf(options);
    return this.#running.run(signal, (controller) =>
      this.#run(
        { sessionPk: session.pk, trigger: 'manual', keepRecent, instructions, plan: planner, claim },
        summarizer,
        controller,
      ),
    );
  }

  /**
   * Compacts for a turn that is about to call its model, as the plan says, in the turn's own time.
   *
   * @param onStart called when there is something to fold, before the summarizer is
   */
  compactForTurn(
    request: Pick<Work, 'sessionPk' | 'keepRecent' | 'instructions' | 'plan'> & {
      readonly model: string | null;
    },
    onStart: () => void,
    signal: AbortSignal,
  ): Promise<CompactResult> {
    const summarizer = this.#parts.summarizerFor(request.model, 'automatic');
    const { sessionPk, keepRecent, instructions, plan } = request;
    const work: Work = { sessionPk, keepRecent, instructions, plan, trigger: 'automatic', onStart };
    return this.#running.run(signal, (controller) => this.#run(work, summarizer, controller));
  }

  /** Lets compactions at work end for `graceMs`, then stops them; refuses later ones. Leases are given back. */
  close(graceMs: number): Promise<void> {
    return this.#running.close(graceMs);
  }

  /** One consistent state: an old summary never meets new rows. */
  #plan(tenant: string, id: string, given: CompactOptions) {
    return this.#parts.store.snapshot(async (db) => {
      const session = await findSession(db, tenant, id);
      if (session === null) throw new AppError('SESSION_NOT_FOUND', `There is no session ${id}`);
      if (session.status === 'closed') throw new AppError('SESSION_CLOSED', `Session ${id} is closed`);
      const { agent } = session;
      const defaults = agent === null ? NO_DEFAULTS : await this.#parts.defaultsOf(db, tenant, agent);
      const options = withDefaults(given, defaults);
      const planned = await plannerOf(options)(db, session);
      return { session, options, planned, lastCompactedAt: await lastCompactedAt(db, session) };
    });
  }

  #preview(
    session: SessionRow,
    { from, summaryChars, openChars }: SessionPlan,
    plan: FoldPlan,
    { budget }: Summarizer,
  ): CompactResult {
    const limit = summaryLimit(summaryChars + plan.chars, this.#parts.settings.summaryMaxChars, budget);
    return {
      kind: 'preview',
      session,
      fromSize: from,
      toSize: plan.cut,
      charsBefore: summaryChars + openChars,
      charsFolded: plan.chars,
      charsAfterAtMost: openChars - plan.chars + limit,
    };
  }

  async #run(
    { onStart, ...work }: Work,
    configured: Summarizer,
    controller: AbortController,
  ): Promise<CompactResult> {
    const { store, clock, settings, logger } = this.#parts;
    controller.signal.throwIfAborted();
    // Before the lease is taken: nobody should wait for it while an endpoint is asked for its window.
    const summarizer = await configured.ready(controller.signal);
    const { leaseMs } = settings;
    const opened = await Attempt.open(store, clock, { ...work, leaseMs, model: summarizer.model });
    if (opened.kind === 'up_to_date') return opened;

    const { attempt } = opened;
    const ledger = new Ledger();
    const onLost = (error: AppError) => controller.abort(error);
    const { claim = null } = work;
    const renewToo = claim === null ? undefined : (db: Db) => claim.renew(db, leaseMs);
    const lease = keepLease(store, work.sessionPk, attempt.owner, settings, onLost, renewToo);
    try {
      onStart?.();
      await this.#fold(opened, work, summarizer, ledger, controller.signal);
      logger.info(logFields(attempt), 'session compacted');
      return { kind: 'compacted', session: attempt.session, record: attempt.record };
    } catch (error) {
      const failure =
        error instanceof AppError
          ? error
          : new AppError('INTERNAL_ERROR', 'Unexpected failure', { cause: error });
      await attempt.end(ledger, failure).catch((cause: unknown) => {
        logger.error({ err: cause, ...logFields(attempt) }, 'the failed compaction could not be recorded');
      });
      logger.warn({ code: failure.code, ...logFields(attempt) }, 'compaction failed');
      throw withProgress(failure, attempt.record);
    } finally {
      lease.stop();
    }
  }

  async #fold(
    { attempt, from, cut }: OpenedAttempt & { kind: 'opened' },
    { instructions }: Pick<Work, 'instructions'>,
    summarizer: Summarizer,
    ledger: Ledger,
    signal: AbortSignal,
  ): Promise<void> {
    const { store, settings } = this.#parts;
    const { compact_summary: summary } = attempt.session;
    const source = batchOf(store, attempt.session, { from, end: cut, carried: attempt.carried });
    const reader = new ChunkReader(source, from, cut, summarizer.budget.unit, settings);
    const { summaryMaxChars } = settings;
    const steps = foldBatch(effectiveSummary(summary), {
      reader,
      summarizer,
      ledger,
      instructions,
      summaryMaxChars,
      signal,
    });
    let size = from;
    for await (const step of steps) {
      signal.throwIfAborted();
      await attempt.commit(step, ledger, step.size === cut);
      size = step.size;
    }
    if (size < cut) await attempt.end(ledger, null);
  }
}

/** Says with the error how far the attempt came: work that is committed is not lost, and is not done again. */
function withProgress(failure: AppError, { id, from_size, to_size }: CompactionRow): AppError {
  const outcome = to_size > from_size ? 'partial' : 'failed';
  const extensions = { ...failure.options.extensions, compaction: { id, from_size, to_size, outcome } };
  return new AppError(failure.code, failure.message, { ...failure.options, extensions, cause: failure });
}

function logFields({ session, record }: Attempt): object {
  const {
    id: compaction,
    from_size,
    to_size,
    chars_before,
    chars_after,
    model,
    requests,
    duration_ms,
  } = record;
  return {
    session: session.id,
    compaction,
    from_size,
    to_size,
    chars_before,
    chars_after,
    model,
    requests,
    duration_ms,
  };
}
