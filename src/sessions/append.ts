import { type ChatMessage, isSystem } from '../compaction/measure.js';
import { insertMessage, openGroupStart } from '../db/repositories/messages.js';
import { growSession } from '../db/repositories/sessions.js';
import { holdingTask } from '../db/repositories/tasks.js';
import type { Db } from '../db/store.js';
import type { SessionRow } from '../db/tables.js';
import { AppError } from '../errors.js';
import { newId } from '../ids.js';
import { type NumberedMessage, numberMessages } from './number-messages.js';

/** A message to store: what it says, and its JSON text word for word. */
export interface IncomingMessage {
  readonly message: ChatMessage;
  readonly json: string;
}

export interface StoredMessage extends Pick<NumberedMessage, 'seq' | 'position' | 'chars'> {
  readonly id: string;
  /** Ms since the epoch. */
  readonly created_at: number;
}

/** Where a session ends, as read in the same transaction. */
export type SessionEndpoint = Pick<SessionRow, 'pk' | 'message_count' | 'conversation_count' | 'total_chars'>;

/** A message that the service itself makes, ready to be stored. */
export function toIncoming(message: ChatMessage): IncomingMessage {
  return { message, json: JSON.stringify(message) };
}

/**
 * Appends messages as one contiguous run of `seq` and moves the session's counters on. The only way in which
 * messages come into a session; whether they may is for the caller to have checked in the same transaction.
 */
export async function appendTo(
  db: Db,
  session: SessionEndpoint,
  incoming: readonly IncomingMessage[],
  nowMs: number,
): Promise<StoredMessage[]> {
  const { numbered, next } = numberMessages(
    incoming.map(({ message }) => message),
    {
      messageCount: session.message_count,
      conversationCount: session.conversation_count,
      totalChars: session.total_chars,
      openGroupStart: startsWithResult(incoming)
        ? await openGroupStart(db, session.pk, session.conversation_count)
        : null,
    },
  );
  const stored: StoredMessage[] = [];
  for (const [index, message] of numbered.entries()) {
    const row = { ...message, id: newId('msg', nowMs), created_at: nowMs };
    await insertMessage(db, { ...row, session_pk: session.pk, body: incoming[index]?.json ?? '' });
    const { id, seq, position, chars, created_at } = row;
    stored.push({ id, seq, position, chars, created_at });
  }
  const { messageCount, conversationCount, totalChars } = next;
  const countBefore = session.conversation_count;
  await growSession(db, session.pk, { messageCount, conversationCount, totalChars, countBefore }, nowMs);
  return stored;
}

/**
 * Refuses results for the calls that a task waits for: they are its own, and come by resuming it.
 *
 * @throws AppError TOOL_CALL_CLOSED
 */
export async function refuseHeld(
  db: Db,
  session: SessionEndpoint,
  incoming: readonly IncomingMessage[],
): Promise<void> {
  if (!startsWithResult(incoming)) return;
  const start = await openGroupStart(db, session.pk, session.conversation_count);
  const task = start === null ? null : await holdingTask(db, session.pk, start);
  if (task === null) return;
  throw new AppError('TOOL_CALL_CLOSED', `The task ${task.id} waits for these results: resume it with them`);
}

/** Whether it matters what the conversation ended with: only results join a group that is there already. */
export function startsWithResult(incoming: readonly IncomingMessage[]): boolean {
  return incoming.find(({ message }) => !isSystem(message.role))?.message.role === 'tool';
}
