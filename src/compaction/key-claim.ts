import type { Db } from '../db/store.js';
import { answerOnce, type Keyed } from '../idempotency/answer-once.js';
import {
  answerClaim,
  openClaim,
  releaseClaim,
  renewClaim,
  type StoredAnswer,
} from '../idempotency/claims.js';
import type { CompactResult } from './compact-result.js';

/** Ends a compaction before it begins: the same request was answered before. */
export class AnsweredBefore extends Error {
  override readonly name = 'AnsweredBefore';

  constructor(readonly answer: StoredAnswer) {
    super('the request was answered before');
  }
}

/**
 * The Idempotency-Key of one compaction. It is claimed with the session's lease, renewed with it, and ends in the
 * transaction that ends the attempt: with the answer, or free for the same request to go on.
 */
export class KeyClaim {
  readonly #keyed: Keyed<CompactResult>;
  #owner = '';

  constructor(keyed: Keyed<CompactResult>) {
    this.#keyed = keyed;
  }

  /** Throws AnsweredBefore, IDEMPOTENCY_KEY_REUSED or IDEMPOTENCY_KEY_IN_USE. */
  async open(db: Db, owner: string, leaseMs: number, nowMs: number): Promise<void> {
    const claim = await openClaim(db, this.#keyed.request, owner, leaseMs, nowMs);
    if (claim.kind === 'answered') throw new AnsweredBefore(claim.answer);
    this.#owner = owner;
  }

  /** False when another request has taken the claim over. */
  renew(db: Db, leaseMs: number): Promise<boolean> {
    return renewClaim(db, this.#keyed.request, this.#owner, leaseMs);
  }

  answer(db: Db, result: CompactResult): Promise<void> {
    return answerClaim(db, this.#keyed.request, this.#owner, this.#keyed.answer(result));
  }

  release(db: Db): Promise<void> {
    return releaseClaim(db, this.#keyed.request, this.#owner);
  }

  /** For a result without an attempt: claims and answers at once. Throws as `open` does. */
  async settle(db: Db, result: CompactResult, nowMs: number): Promise<void> {
    const { request } = this.#keyed;
    const { answer, replayed } = await answerOnce(db, request, nowMs, async () => this.#keyed.answer(result));
    if (replayed) throw new AnsweredBefore(answer);
  }
}
