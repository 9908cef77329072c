import { effectiveSize } from '../../compaction/context.js';
import { messageAt } from '../../db/repositories/messages.js';
import type { FoundTask } from '../../db/repositories/tasks.js';
import type { Db } from '../../db/store.js';
import type { SessionRow } from '../../db/tables.js';
import { AppError } from '../../errors.js';
import { appendTo, type IncomingMessage, toIncoming } from '../../sessions/append.js';
import { type TurnContent, toolMessage, userMessage } from '../turn/input.js';
import { holdSession, markTurn, type OpenTurn, resumeTurn, type TurnStart } from '../turn/open-turn.js';
import { inputOf, resumeInputOf } from './task-fields.js';

/**
 * Begins the turn of a task that is being claimed, in the same transaction: stores its input if that is not stored,
 * then what a resume brought, and marks where the turn began. Without anything new the turn goes on from the last
 * message that it stored.
 *
 * @throws AppError SESSION_NOT_FOUND, SESSION_CLOSED, SESSION_BUSY, SESSION_CHANGED
 */
export async function beginTask(db: Db, task: FoundTask, start: TurnStart): Promise<OpenTurn> {
  const brought = resumeInputOf(task);
  if (brought === null && task.turn_position !== null) {
    return resumeTurn(db, task.session_pk, task.turn_position, start);
  }
  const session = await holdSession(db, task.session_pk, start);
  const results = (brought?.toolResults ?? []).map(toolMessage);
  const users: TurnContent[] = task.turn_position === null ? [inputOf(task)] : [];
  if (brought?.message != null) users.push(brought.message);
  const incoming: IncomingMessage[] = [...results, ...users.map(userMessage)].map(toIncoming);
  const position =
    results.length > 0
      ? await resumedAt(db, session, task)
      : session.conversation_count + incoming.length - users.length;
  await appendTo(db, session, incoming, start.nowMs);
  return markTurn(db, session, position, start);
}

/**
 * From here on nothing is summarized: the message that the task is about, so that it is repeated word for word until
 * the task ends; or the calls that it waited for, when a summary has taken that message in meanwhile. The results
 * stand after whatever came while the task waited.
 */
async function resumedAt(db: Db, session: SessionRow, task: FoundTask): Promise<number> {
  const calls = await callsAt(db, task);
  const { turn_position: began } = task;
  if (began === null || began < 0 || began > calls) return calls;
  const isOpen = began >= effectiveSize(session) || began === session.carried_position;
  return isOpen ? began : calls;
}

/** Position of the calls that the task waited for; they are gone when the session was emptied meanwhile. */
async function callsAt(db: Db, { session_pk, wait_position: position }: FoundTask): Promise<number> {
  const calls = position === null ? null : await messageAt(db, session_pk, position);
  if (position !== null && calls !== null && calls.tool_call_count > 0) return position;
  throw new AppError('SESSION_CHANGED', 'The session does not hold the tool calls any more');
}
