import type { ChatMessage } from '../../compaction/measure.js';
import { findSessionByPk } from '../../db/repositories/sessions.js';
import { countTokens, noteExcess } from '../../db/repositories/turn-counts.js';
import { sessionOfTurn } from '../../db/repositories/turn-leases.js';
import type { Db } from '../../db/store.js';
import type { SessionRow } from '../../db/tables.js';
import { AppError } from '../../errors.js';
import { appendTo, toIncoming } from '../../sessions/append.js';
import type { TurnUsage } from './events.js';
import type { TokenExcess } from './fitter.js';
import type { OpenTurn } from './open-turn.js';

/** What one step of a turn brings into the session. */
export interface TurnWrite {
  readonly messages: readonly ChatMessage[];
  /** Of the model call that the messages come from; null where there was none. */
  readonly usage: TurnUsage | null;
  readonly excess: TokenExcess | null;
}

/**
 * Stores a step of a turn, in the transaction it is called in, if the turn still holds its session: a turn that
 * was paused for longer than its lease, and whose session others have used since, writes nothing any more.
 *
 * @throws AppError SESSION_NOT_FOUND, SESSION_CHANGED
 */
export async function writeStep(db: Db, turn: OpenTurn, write: TurnWrite, nowMs: number): Promise<void> {
  const session = await heldSession(db, turn);
  if (write.messages.length > 0) await appendTo(db, session, write.messages.map(toIncoming), nowMs);
  const { usage, excess } = write;
  if (usage !== null) {
    await countTokens(db, session.pk, { input: usage.inputTokens ?? 0, output: usage.outputTokens ?? 0 });
  }
  if (excess !== null) await noteExcess(db, session.pk, excess.tokens, excess.revision);
}

/** The session of a turn that still holds it. */
export async function heldSession(db: Db, turn: OpenTurn): Promise<SessionRow> {
  const session = await sessionOfTurn(db, turn.sessionPk, turn.owner);
  if (session === null) throw await whyLost(db, turn.sessionPk);
  return session;
}

/** Why a turn holds its session no longer. */
export async function whyLost(db: Db, sessionPk: number): Promise<AppError> {
  return (await findSessionByPk(db, sessionPk)) === null
    ? new AppError('SESSION_NOT_FOUND', 'The session was deleted')
    : new AppError('SESSION_CHANGED', 'The lease of the turn ran out while it was at work');
}
