import { messageAt } from '../../db/repositories/messages.js';
import { findSessionByPk } from '../../db/repositories/sessions.js';
import type { FoundTask } from '../../db/repositories/tasks.js';
import { openTurnAt, takeTurn, turnRest } from '../../db/repositories/turn-leases.js';
import type { Db } from '../../db/store.js';
import { AppError, sessionBusy } from '../../errors.js';
import { appendTo, type IncomingMessage, toIncoming } from '../../sessions/append.js';
import { type TurnContent, toolMessage, userMessage } from '../turn/input.js';
import { type OpenTurn, resumeTurn, type TurnStart } from '../turn/open-turn.js';
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
  const { session_pk: sessionPk, tenant, session_id: sessionId } = task;
  const session = await takeTurn(db, sessionPk, start.owner, start.leaseMs);
  if (session === null) throw await whyNoTurn(db, task);

  const results = (brought?.toolResults ?? []).map(toolMessage);
  const users: TurnContent[] = task.turn_position === null ? [inputOf(task)] : [];
  if (brought?.message != null) users.push(brought.message);
  const incoming: IncomingMessage[] = [...results, ...users.map(userMessage)].map(toIncoming);
  // From the calls on nothing is summarized: their results stand after whatever came while the task waited.
  const position =
    results.length > 0
      ? await callsAt(db, task)
      : session.conversation_count + incoming.length - users.length;
  await appendTo(db, session, incoming, start.nowMs);
  await openTurnAt(db, sessionPk, start.owner, position);
  return { sessionPk, sessionId, tenant, owner: start.owner, position };
}

/** Position of the calls that the task waited for; they are gone when the session was emptied meanwhile. */
async function callsAt(db: Db, { session_pk, wait_position: position }: FoundTask): Promise<number> {
  const calls = position === null ? null : await messageAt(db, session_pk, position);
  if (position !== null && calls !== null && calls.tool_call_count > 0) return position;
  throw new AppError('SESSION_CHANGED', 'The session does not hold the tool calls any more');
}

async function whyNoTurn(db: Db, { session_pk, session_id }: FoundTask): Promise<AppError> {
  const session = await findSessionByPk(db, session_pk);
  if (session?.status === 'closed') return new AppError('SESSION_CLOSED', `Session ${session_id} is closed`);
  return sessionBusy(await turnRest(db, session_pk));
}
