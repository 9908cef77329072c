import type { Store } from '../db/store.js';
import { newId } from '../ids.js';
import { type IncomingMessage, type StoredMessage, startsWithResult } from './append.js';
import { numberMessages } from './number-messages.js';

const FROM_NOTHING = { messageCount: 0, conversationCount: 0, totalChars: 0, openGroupStart: null };

/**
 * The append to a session at rest, as one statement, where the store has one. Null when it has none or the statement
 * does not cover the case, and nothing is stored then: it is for a transaction to do, or to say why not.
 */
export async function appendAtOnce(
  store: Store,
  tenant: string,
  id: string,
  incoming: readonly IncomingMessage[],
  nowMs: number,
): Promise<StoredMessage[] | null> {
  // What a result joins is for the session to say; all else is numbered without it.
  if (store.appendRun === null || incoming.length === 0 || startsWithResult(incoming)) return null;
  const { numbered } = numberMessages(
    incoming.map(({ message }) => message),
    FROM_NOTHING,
  );
  const messages = numbered.map((message, index) => ({
    ...message,
    id: newId('msg', nowMs),
    body: incoming[index]?.json ?? '',
  }));
  const speaks = incoming.some(({ message: { role } }) => role === 'user' || role === 'assistant');
  const start = await store.appendRun({ tenant, id, messages, speaks, nowMs });
  if (start === null) return null;
  return messages.map(({ id: messageId, seq, position, chars }) => ({
    id: messageId,
    seq: start.seq + seq,
    position: position === null ? null : start.position + position,
    chars,
    created_at: nowMs,
  }));
}
