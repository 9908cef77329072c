import type { ChatMessage, ChatToolCall } from '../../compaction/measure.js';
import { conversationBetween, messageAt } from '../../db/repositories/messages.js';
import type { Db } from '../../db/store.js';
import type { SessionRow } from '../../db/tables.js';

/** A tool call that has no result yet. */
export interface OutstandingCall {
  readonly id: string;
  readonly name: string;
  /** As the model wrote them, not parsed. */
  readonly arguments: string;
}

/** The tool group that a session ends with, and those of its calls that wait for results, in order. */
export interface OutstandingGroup {
  /** Position of the assistant message with the calls. */
  readonly position: number;
  readonly message: ChatMessage;
  readonly calls: readonly OutstandingCall[];
}

type End = Pick<SessionRow, 'pk' | 'conversation_count' | 'message_count'>;

/**
 * What the end of a session still waits for; null when it does not end with unanswered calls. Calls further up
 * were abandoned by what came after them. A result answers the first call of its id that has none: ids repeat.
 */
export async function outstandingCalls(db: Db, session: End): Promise<OutstandingGroup | null> {
  const { pk, conversation_count: count, message_count: messageCount } = session;
  const last = count === 0 ? null : await messageAt(db, pk, count - 1);
  if (last === null || last.group_start === null) return null;
  const head = last.group_start === last.position ? last : await messageAt(db, pk, last.group_start);
  if (head === null || head.position === null || head.tool_call_count === 0) return null;
  const [first, ...results] = await conversationBetween(db, pk, head.seq, messageCount - 1);
  if (first === undefined) return null;
  const message: ChatMessage = JSON.parse(first.body);
  const calls = unanswered(
    message.tool_calls ?? [],
    results.map(({ body }): ChatMessage => JSON.parse(body)),
  );
  return calls.length === 0 ? null : { position: head.position, message, calls };
}

function unanswered(calls: readonly ChatToolCall[], results: readonly ChatMessage[]): OutstandingCall[] {
  const answers = results.map(({ tool_call_id: id }) => id ?? '');
  return calls
    .filter(({ id = '' }) => {
      const index = answers.indexOf(id);
      if (index >= 0) answers.splice(index, 1);
      return index < 0;
    })
    .map(({ id = '', function: called }) => ({
      id,
      name: called?.name ?? '',
      arguments: called?.arguments ?? '',
    }));
}
