import { AppError } from '../../errors.js';

/** The turns at work in this process, by session: a deleted session ends its turn at once, not at the next renewal. */
export class RunningTurns {
  readonly #bySession = new Map<number, AbortController>();

  /** @returns to be called when the turn is over */
  add(sessionPk: number, controller: AbortController): () => void {
    this.#bySession.set(sessionPk, controller);
    return () => {
      if (this.#bySession.get(sessionPk) === controller) this.#bySession.delete(sessionPk);
    };
  }

  /** Ends the turn of a session, if one is at work here. */
  stop(sessionPk: number, reason: AppError): void {
    this.#bySession.get(sessionPk)?.abort(reason);
  }

  sessionDeleted(sessionPk: number): void {
    this.stop(sessionPk, new AppError('SESSION_NOT_FOUND', 'The session was deleted'));
  }
}
