import { effectiveSize } from '../../compaction/context.js';
import { messageAt, messageWithBody } from '../../db/repositories/messages.js';
import { findSession, findSessionByPk } from '../../db/repositories/sessions.js';
import { disownTurn, holdingTask } from '../../db/repositories/tasks.js';
import { openTurnAt, takeTurn, turnRest } from '../../db/repositories/turn-leases.js';
import type { Db } from '../../db/store.js';
import type { SessionRow } from '../../db/tables.js';
import { AppError, sessionBusy } from '../../errors.js';
import { appendTo, type IncomingMessage, toIncoming } from '../../sessions/append.js';
import { checkResults, type TurnContent, type TurnInput, toolMessage, userMessage } from './input.js';
import { outstandingCalls } from './outstanding-calls.js';

/** A turn that holds its session: everything it writes is fenced by `owner`. */
export interface OpenTurn {
  readonly sessionPk: number;
  readonly sessionId: string;
  readonly tenant: string;
  readonly owner: string;
  /** Position of the message that the turn began with: from it on nothing is summarized until the turn is over. */
  readonly position: number;
}

export interface TurnStart {
  readonly owner: string;
  readonly leaseMs: number;
  readonly nowMs: number;
}

/** Finds the session of a turn. SESSION_NOT_FOUND. */
export async function sessionOf(db: Db, tenant: string, id: string): Promise<SessionRow> {
  const session = await findSession(db, tenant, id);
  if (session === null) throw new AppError('SESSION_NOT_FOUND', `There is no session ${id}`);
  return session;
}

/**
 * Begins a turn in the transaction it is called in: takes the session, stores what came, marks where the turn
 * began. All of it, or nothing.
 *
 * @throws AppError SESSION_NOT_FOUND, SESSION_CLOSED, SESSION_BUSY, TOOL_CALL_CLOSED, NOTHING_TO_ANSWER
 */
export async function beginTurn(
  db: Db,
  sessionPk: number,
  input: TurnInput,
  start: TurnStart,
): Promise<OpenTurn> {
  const session = await holdSession(db, sessionPk, start);
  const group = await outstandingCalls(db, session);
  const held = group !== null && (await holdingTask(db, sessionPk, group.position)) !== null;
  checkResults(input.toolResults, held ? [] : (group?.calls ?? []));

  const incoming: IncomingMessage[] = input.toolResults.map((result) => toIncoming(toolMessage(result)));
  if (input.message !== null) incoming.push(toIncoming(userMessage(input.message)));
  if (incoming.length === 0 && held) throw nothingToAnswer('The session waits for results of a task');
  if (incoming.length === 0 && group === null) await requireQuestion(db, session);
  if (incoming.length > 0) await appendTo(db, session, incoming, start.nowMs);

  // The message comes last. Results go on with the turn that called; without one, their calls begin it.
  const position =
    input.message === null
      ? (session.turn_position ?? group?.position ?? session.conversation_count - 1)
      : session.conversation_count + incoming.length - 1;
  // A task that had failed at this very turn cannot go on with it any more: it is another one's now.
  if (position === session.turn_position) await disownTurn(db, sessionPk, position);
  return markTurn(db, session, position, start);
}

/**
 * Goes on with a turn whose request has stored its message before and failed since.
 *
 * @param message what should stand at the position, where another one may be after a reset; null takes any
 * @throws AppError SESSION_NOT_FOUND, SESSION_CLOSED, SESSION_BUSY; SESSION_CHANGED when another message came since
 */
export async function resumeTurn(
  db: Db,
  sessionPk: number,
  position: number,
  start: TurnStart,
  message: TurnContent | null = null,
): Promise<OpenTurn> {
  const session = await holdSession(db, sessionPk, start);
  const isThere =
    session.turn_position === position &&
    (message === null ||
      (await messageWithBody(db, sessionPk, position))?.body === toIncoming(userMessage(message)).json);
  if (!isThere) {
    const detail = 'The session went on without the message that was stored for this';
    throw new AppError('SESSION_CHANGED', detail, { retryable: false });
  }
  return markTurn(db, session, position, start);
}

/**
 * Takes the session of a turn that begins.
 *
 * @throws AppError SESSION_NOT_FOUND, SESSION_CLOSED, SESSION_BUSY
 */
export async function holdSession(
  db: Db,
  sessionPk: number,
  { owner, leaseMs }: TurnStart,
): Promise<SessionRow> {
  return (await takeTurn(db, sessionPk, owner, leaseMs)) ?? Promise.reject(await whyNoTurn(db, sessionPk));
}

/** Marks where the turn that holds the session began. */
export async function markTurn(
  db: Db,
  session: SessionRow,
  position: number,
  { owner }: TurnStart,
): Promise<OpenTurn> {
  await openTurnAt(db, session.pk, owner, position);
  return { sessionPk: session.pk, sessionId: session.id, tenant: session.tenant, owner, position };
}

async function whyNoTurn(db: Db, sessionPk: number): Promise<AppError> {
  const session = await findSessionByPk(db, sessionPk);
  if (session === null) return new AppError('SESSION_NOT_FOUND', 'The session was deleted');
  if (session.status === 'closed') return new AppError('SESSION_CLOSED', `Session ${session.id} is closed`);
  return sessionBusy(await turnRest(db, sessionPk));
}

function nothingToAnswer(why: string): AppError {
  return new AppError('NOTHING_TO_ANSWER', `${why}: send a message`);
}

/** Without new input, the conversation itself must end with something that wants an answer. */
async function requireQuestion(db: Db, session: SessionRow): Promise<void> {
  const count = session.conversation_count;
  // What is summarized is no question; but a carried message, and all that is open, is still sent.
  const last = count === 0 ? null : await messageAt(db, session.pk, count - 1);
  const folded = effectiveSize(session) >= count && session.carried_position !== count - 1;
  if (last === null || folded || (last.role !== 'user' && last.role !== 'tool')) {
    throw nothingToAnswer('The context ends with nothing to answer');
  }
}
