import { setImmediate as nextTurn } from 'node:timers/promises';
import { pageFrom } from '../db/repositories/message-pages.js';
import { conversationBetween, messageAt } from '../db/repositories/messages.js';
import type { Store } from '../db/store.js';
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

function toBatchMessage(row: {
  position: number | null;
  group_start: number | null;
  body: string;
}): BatchMessage {
  const message: ChatMessage = JSON.parse(row.body);
  const position = row.position ?? 0;
  return { position, groupStart: row.group_start ?? position, message };
}
