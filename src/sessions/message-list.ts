import { setImmediate as nextTurn } from 'node:timers/promises';
import {
  type ListedMessage,
  type MessageRange,
  messageSizes,
  messagesBetween,
} from '../db/repositories/messages.js';
import { findSession } from '../db/repositories/sessions.js';
import type { Store } from '../db/store.js';
import { AppError } from '../errors.js';

export interface MessagePage {
  readonly messages: readonly ListedMessage[];
  readonly hasMore: boolean;
}

/** A page ends early when its messages reach this many bytes: 200 inline images must not fill the memory. */
const PAGE_MAX_BYTES = 16 * 1024 * 1024;
/** Bodies are read in slices of about this many bytes, letting other requests in between. */
const SLICE_BYTES = 1024 * 1024;

/** Messages of a session as they were given, in `seq` order or against it. At least one if there is any. */
export function listMessages(
  store: Store,
  tenant: string,
  sessionId: string,
  range: MessageRange,
  limit: number,
): Promise<MessagePage> {
  return store.snapshot(async (db) => {
    const session = await findSession(db, tenant, sessionId);
    if (session === null) throw new AppError('SESSION_NOT_FOUND', `There is no session ${sessionId}`);
    const sizes = await messageSizes(db, session.pk, range, limit + 1);
    const slices = slicesOf(sizes.slice(0, limit));
    const messages: ListedMessage[] = [];
    for (const { from, to } of slices) {
      messages.push(...(await messagesBetween(db, session.pk, from, to, range.order)));
      await nextTurn();
    }
    return { messages, hasMore: messages.length < sizes.length };
  });
}

/** Runs of `seq` (from <= to) of about a slice each, together at most a page. */
function slicesOf(sizes: readonly { seq: number; bytes: number }[]): { from: number; to: number }[] {
  const slices: { from: number; to: number; bytes: number }[] = [];
  let total = 0;
  for (const { seq, bytes } of sizes) {
    total += bytes;
    if (total > PAGE_MAX_BYTES && slices.length > 0) break;
    const last = slices.at(-1);
    if (last === undefined || last.bytes + bytes > SLICE_BYTES) slices.push({ from: seq, to: seq, bytes });
    else {
      last.from = Math.min(last.from, seq);
      last.to = Math.max(last.to, seq);
      last.bytes += bytes;
    }
  }
  return slices;
}
