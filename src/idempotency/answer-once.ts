import type { Db } from '../db/store.js';
import { newLeaseToken } from '../ids.js';
import { answerClaim, type KeyedRequest, openClaim, type StoredAnswer } from './claims.js';

/** A request with a key, and how what it did becomes the answer that is kept. */
export interface Keyed<Result> {
  readonly request: KeyedRequest;
  answer(result: Result): StoredAnswer;
}

export interface Answered {
  readonly answer: StoredAnswer;
  /** Whether the answer was given before, and nothing was done now. */
  readonly replayed: boolean;
}

/** Never seen by anybody: the claim is answered in the transaction that opens it. */
const UNSEEN_LEASE_MS = 1_000;

/**
 * For effects of one transaction: runs `effect` and stores its answer with it, or gives the stored answer. When the
 * effect throws, the transaction takes the key back with it. Without a request it only runs the effect.
 */
export async function answerOnce(
  db: Db,
  request: KeyedRequest | null,
  nowMs: number,
  effect: () => Promise<StoredAnswer>,
): Promise<Answered> {
  if (request === null) return { answer: await effect(), replayed: false };
  const owner = newLeaseToken();
  const claim = await openClaim(db, request, owner, UNSEEN_LEASE_MS, nowMs);
  if (claim.kind === 'answered') return { answer: claim.answer, replayed: true };
  const answer = await effect();
  await answerClaim(db, request, owner, answer);
  return { answer, replayed: false };
}
