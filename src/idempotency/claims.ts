import {
  answerKey,
  type FoundKey,
  findKey,
  placeKey,
  purgeKeys,
  releaseKey,
  renewKey,
  retakeKey,
  takeKey,
} from '../db/repositories/idempotency.js';
import type { Db } from '../db/store.js';
import { AppError } from '../errors.js';

/**
 * Idempotency keys. A claim is opened in the transaction of a request's first write and answered in that of its
 * last, so that key and effect are there together or not at all. In between it has a lease, which is renewed
 * with the work: a claim whose process died can be taken over once the lease has run out.
 */

/** A request that must not be done twice. */
export interface KeyedRequest {
  readonly tenant: string;
  readonly key: string;
  /** Hash of what is asked: another one under the same key is another request. */
  readonly fingerprint: string;
}

/** What was answered; body is JSON text. */
export interface StoredAnswer {
  readonly status: number;
  readonly location: string | null;
  readonly body: string;
}

export type Claim =
  | { readonly kind: 'fresh' }
  | { readonly kind: 'answered'; readonly answer: StoredAnswer }
  /** The request was at work before, and ended without an answer; where its message is, if it stored one. */
  | { readonly kind: 'resumed'; readonly sessionPk: number | null; readonly position: number | null };

/**
 * Claims the key for `owner`, in the transaction of the request's first write. IDEMPOTENCY_KEY_REUSED when the key
 * stands for another request, IDEMPOTENCY_KEY_IN_USE while the same request is at work.
 *
 * @param owner random token of the work, as for any other lease
 * @param nowMs time that people read, in ms since the epoch
 */
export async function openClaim(
  db: Db,
  request: KeyedRequest,
  owner: string,
  leaseMs: number,
  nowMs: number,
): Promise<Claim> {
  const { fingerprint } = request;
  if (await takeKey(db, request, { fingerprint, owner, leaseMs }, nowMs)) {
    await purgeKeys(db);
    return { kind: 'fresh' };
  }
  const found = await findKey(db, request);
  // Taken away by hand between two statements: whoever sends the request again finds the key free.
  if (found === null) throw inUse(0);
  const answer = answerOf(found, request);
  if (answer !== null) return { kind: 'answered', answer };
  if (!(await retakeKey(db, found.pk, owner, leaseMs))) throw inUse(found.lease_rest);
  return { kind: 'resumed', sessionPk: found.session_pk, position: found.position };
}

/**
 * The answer that the request was given before, without claiming anything; null when it has none yet and may be
 * done. Throws as `openClaim` does. For work that looks around before its first write.
 */
export async function findAnswer(db: Db, request: KeyedRequest): Promise<StoredAnswer | null> {
  const found = await findKey(db, request);
  return found === null || found.kept_rest <= 0 ? null : answerOf(found, request);
}

/** Notes where the message is that the request has stored: whoever takes the claim over goes on from there. */
export async function placeClaim(
  db: Db,
  request: KeyedRequest,
  owner: string,
  place: { readonly sessionPk: number; readonly position: number },
): Promise<void> {
  if (!(await placeKey(db, request, owner, place))) throw inUse(0);
}

/** Puts off the end of the claim's lease; false when another has taken the claim over. */
export function renewClaim(db: Db, request: KeyedRequest, owner: string, leaseMs: number): Promise<boolean> {
  return renewKey(db, request, owner, leaseMs);
}

/**
 * Stores the answer, in the transaction of the request's last write. When another has taken the claim over this
 * throws IDEMPOTENCY_KEY_IN_USE, and the write is undone with it.
 */
export async function answerClaim(
  db: Db,
  request: KeyedRequest,
  owner: string,
  answer: StoredAnswer,
): Promise<void> {
  if (!(await answerKey(db, request, owner, answer))) throw inUse(0);
}

/** Ends the claim without an answer: the same request may go on at once. */
export function releaseClaim(db: Db, request: KeyedRequest, owner: string): Promise<void> {
  return releaseKey(db, request, owner);
}

/** Throws when the key is not this request's, or the request is at work. */
function answerOf(found: FoundKey, request: KeyedRequest): StoredAnswer | null {
  if (found.fingerprint !== request.fingerprint) {
    throw new AppError(
      'IDEMPOTENCY_KEY_REUSED',
      'The Idempotency-Key stands for a request with another path or body',
    );
  }
  if (found.status === 'running' && found.lease_rest > 0) throw inUse(found.lease_rest);
  const { answer_status: status, answer_location: location, answer_body: body } = found;
  return found.status === 'answered' && status !== null && body !== null ? { status, location, body } : null;
}

/** @param restMs ms until the lease of the work runs out; it may end sooner */
function inUse(restMs: number): AppError {
  return new AppError('IDEMPOTENCY_KEY_IN_USE', 'The request with this Idempotency-Key is still at work', {
    retryAfterSeconds: Math.max(1, Math.ceil(restMs / 1_000)),
  });
}
