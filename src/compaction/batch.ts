import { setImmediate as nextTurn } from 'node:timers/promises';
import { pageFrom } from '../db/repositories/message-pages.js';
import { conversationBetween, messageAt, messageWithBody } from '../db/repositories/messages.js';
import type { Store } from '../db/store.js';
import type { SessionRow } from '../db/tables.js';
import type { BatchMessage } from './chunk-reader.js';
import type { ChatMessage } from './measure.js';

/**
 * Reads the conversation messages of a session from a position on, one page per call; the page ends at a
 * limit or at the session's end. The rows below the pointer's target cannot change under the reader without
 * the revision changing too, which the commit checks: no snapshot is held while a model writes.
 */
export function batchSource(store: Store, sessionPk: number, messageCount: number) {
  return async (from: number): Promise<readonly BatchMessage[]> => {
    await nextTurn();
    return store.snapshot(async (db) => {
      const first = await messageAt(db, sessionPk, from);
      if (first === null) throw new RangeError(`there is no message at position ${from}`);
      for (let seq = first.seq; ; ) {
        const page = await pageFrom(db, sessionPk, seq, messageCount - 1);
        if (page === null) throw new RangeError(`there is no message at position ${from}`);
        const rows = await conversationBetween(db, sessionPk, seq, page.to);
        if (rows.length > 0) return rows.map(toBatchMessage);
        seq = page.to + 1;
      }
    });
  };
}

/**
 * The messages of a session's batch as they are summarized: first the one that an earlier compaction carried past
 * the pointer, if its turn is over, then the batch, without the message that this compaction carries: it is still
 * being answered and must not be read as something done.
 *
 * @param from where the batch begins; the carried message takes the place before it, so that no cut parts them
 * @param end position after the batch, a safe cut
 */
export function batchOf(
  store: Store,
  session: SessionRow,
  { from, end, carried }: { readonly from: number; readonly end: number; readonly carried: number | null },
) {
  const { pk, message_count: messageCount, carried_position: before } = session;
  const read = batchSource(store, pk, messageCount);
  const lead = before !== null && before < from && before !== carried ? before : null;
  return async (position: number): Promise<readonly BatchMessage[]> => {
    const rows = (await read(position)).filter((row) => row.position !== carried);
    // All of it was the one message that stays out: what comes after it is next.
    if (rows.length === 0 && position + 1 < end) return read(position + 1);
    if (lead === null || position !== from) return rows;
    const row = await store.snapshot((db) => messageWithBody(db, pk, lead));
    if (row === null) throw new RangeError(`there is no message at position ${lead}`);
    return [{ position: from - 1, groupStart: from - 1, message: JSON.parse(row.body) }, ...rows];
  };
}

function toBatchMessage(row: {
  position: number | null;
  group_start: number | null;
  body: string;
}): BatchMessage {
  const message: ChatMessage = JSON.parse(row.body);
  const position = row.position ?? 0;
  return { position, groupStart: row.group_start ?? position, message };
}
