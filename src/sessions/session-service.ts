import {
  changeSession,
  emptySession,
  findSession,
  findSessionEnd,
  listSessions,
  removeSession,
  type SessionFilter,
} from '../db/repositories/sessions.js';
import { endOpenTurn, turnRest } from '../db/repositories/turn-leases.js';
import type { Db, Store } from '../db/store.js';
import type { SessionRow } from '../db/tables.js';
import { AppError, sessionBusy } from '../errors.js';
import { type Answered, answerOnce, type Keyed } from '../idempotency/answer-once.js';
import { newId } from '../ids.js';
import { appendTo, type IncomingMessage, refuseHeld, type StoredMessage } from './append.js';
import { appendAtOnce } from './append-at-once.js';
import { createSession } from './new-session.js';

export interface NewSessionRequest {
  readonly id: string | null;
  readonly agent: string | null;
  readonly title: string | null;
  /** Percent; null takes the agent's, or else the default. */
  readonly compactCount: number | null;
  /** JSON text of an object. */
  readonly metadata: string | null;
  readonly messages: readonly IncomingMessage[];
}

/** Percent that new sessions of an agent take; null for the default. AGENT_NOT_FOUND without the agent. */
export type PercentOf = (db: Db, tenant: string, agent: string) => Promise<number | null>;

interface SessionParts {
  readonly store: Store;
  /** Ms since the epoch. */
  readonly clock: () => number;
  readonly percentOf: PercentOf;
  /** Told of each session that is deleted, to end what runs on it. */
  readonly onRemoved: (sessionPk: number) => void;
  /** In the transaction that empties a session: ends what was about its messages. */
  readonly onReset: (db: Db, sessionPk: number, nowMs: number) => Promise<void>;
}

/** Sessions and what is appended to them. Each method is one transaction: all of it, or nothing. */
export class SessionService {
  readonly #store: Store;
  readonly #clock: () => number;
  readonly #percentOf: PercentOf;
  readonly #onRemoved: (sessionPk: number) => void;
  readonly #onReset: SessionParts['onReset'];

  constructor(parts: SessionParts) {
    this.#store = parts.store;
    this.#clock = parts.clock;
    this.#percentOf = parts.percentOf;
    this.#onRemoved = parts.onRemoved;
    this.#onReset = parts.onReset;
  }

  create(tenant: string, request: NewSessionRequest): Promise<SessionRow> {
    const now = this.#clock();
    const id = request.id ?? newId('sess', now);
    return this.#taking(id, (db) => this.#createIn(db, tenant, id, request, now));
  }

  /** As `create`, once for each key. */
  createOnce(tenant: string, request: NewSessionRequest, key: Keyed<SessionRow>): Promise<Answered> {
    const now = this.#clock();
    const id = request.id ?? newId('sess', now);
    return this.#taking(id, (db) =>
      answerOnce(db, key.request, now, async () =>
        key.answer(await this.#createIn(db, tenant, id, request, now)),
      ),
    );
  }

  /** A transaction that ends in SESSION_EXISTS when there is a session with this id. */
  async #taking<T>(id: string, fn: (db: Db) => Promise<T>): Promise<T> {
    try {
      return await this.#store.tx(fn);
    } catch (error) {
      if (this.#store.isUniqueViolation(error)) {
        throw new AppError('SESSION_EXISTS', `There is a session ${id} already`, { cause: error });
      }
      throw error;
    }
  }

  async #createIn(
    db: Db,
    tenant: string,
    id: string,
    request: NewSessionRequest,
    now: number,
  ): Promise<SessionRow> {
    const { agent, title, metadata, messages } = request;
    // In this transaction: what the session takes is of an agent that is there when it begins.
    const agentPercent = agent === null ? null : await this.#percentOf(db, tenant, agent);
    const compactCount = request.compactCount ?? agentPercent;
    const fields = { tenant, id, kind: 'manual', agent, title, compactCount, metadata } as const;
    const session = await createSession(db, fields, now);
    if (messages.length === 0) return session;
    await appendTo(db, session, messages, now);
    return found(await findSession(db, tenant, id), id);
  }

  async get(tenant: string, id: string): Promise<SessionRow> {
    return found(await findSession(this.#store.read, tenant, id), id);
  }

  list(filter: SessionFilter, beforePk: number | null, limit: number): Promise<SessionRow[]> {
    return listSessions(this.#store.read, filter, beforePk, limit);
  }

  /** Appends messages as one contiguous run of `seq`. SESSION_CLOSED on a closed session, SESSION_BUSY in a turn. */
  async append(tenant: string, id: string, messages: readonly IncomingMessage[]): Promise<StoredMessage[]> {
    const stored = await appendAtOnce(this.#store, tenant, id, messages, this.#clock());
    return stored ?? this.#store.tx((db) => this.#appendIn(db, tenant, id, messages));
  }

  /** As `append`, once for each key. */
  appendOnce(
    tenant: string,
    id: string,
    messages: readonly IncomingMessage[],
    key: Keyed<StoredMessage[]>,
  ): Promise<Answered> {
    return this.#store.tx((db) =>
      answerOnce(db, key.request, this.#clock(), async () =>
        key.answer(await this.#appendIn(db, tenant, id, messages)),
      ),
    );
  }

  async #appendIn(
    db: Db,
    tenant: string,
    id: string,
    messages: readonly IncomingMessage[],
  ): Promise<StoredMessage[]> {
    const session = found(await findSessionEnd(db, tenant, id), id);
    if (session.status === 'closed') throw new AppError('SESSION_CLOSED', `Session ${id} is closed`);
    refuseBusy(session.turn_rest);
    await refuseHeld(db, session, messages);
    // What is said outside of an open turn ends it; results only go on with it.
    const speaks = messages.some(({ message: { role } }) => role === 'user' || role === 'assistant');
    if (session.turn_position !== null && speaks) {
      await endOpenTurn(db, session.pk, session.turn_position);
    }
    return appendTo(db, session, messages, this.#clock());
  }

  /** @param ifVersions versions the caller may have seen; PRECONDITION_FAILED when it is another by now, null skips */
  update(
    tenant: string,
    id: string,
    fields: Partial<Pick<SessionRow, 'title' | 'metadata'>>,
    ifVersions: readonly number[] | null,
  ): Promise<SessionRow> {
    return this.#store.tx(async (db) => {
      const session = found(await findSession(db, tenant, id), id);
      requireVersion(session, ifVersions);
      return found(await changeSession(db, session.pk, fields, this.#clock()), id);
    });
  }

  /** Closes or reopens; does nothing to a session that is so already. SESSION_BUSY while a turn runs on it. */
  setStatus(tenant: string, id: string, status: SessionRow['status']): Promise<SessionRow> {
    return this.#store.tx(async (db) => {
      const session = found(await findSession(db, tenant, id), id);
      if (session.status === status) return session;
      refuseBusy(await turnRest(db, session.pk));
      const now = this.#clock();
      const closed_at = status === 'closed' ? now : null;
      return found(await changeSession(db, session.pk, { status, closed_at }, now), id);
    });
  }

  /** Deletes messages, compactions and summary; the session itself stays as it is. */
  reset(tenant: string, id: string): Promise<SessionRow> {
    return this.#store.tx(async (db) => {
      const session = found(await findSession(db, tenant, id), id);
      refuseBusy(await turnRest(db, session.pk));
      const now = this.#clock();
      await this.#onReset(db, session.pk, now);
      return found(await emptySession(db, session.pk, now), id);
    });
  }

  async remove(tenant: string, id: string, ifVersions: readonly number[] | null): Promise<void> {
    const { pk } = await this.#store.tx(async (db) => {
      const session = found(await findSession(db, tenant, id), id);
      requireVersion(session, ifVersions);
      await removeSession(db, session.pk);
      return session;
    });
    this.#onRemoved(pk);
  }
}

function found<Row>(session: Row | null, id: string): Row {
  if (session === null) throw new AppError('SESSION_NOT_FOUND', `There is no session ${id}`);
  return session;
}

/** What a turn reads and writes must not change under it. */
function refuseBusy(restMs: number): void {
  if (restMs > 0) throw sessionBusy(restMs);
}

function requireVersion(session: SessionRow, ifVersions: readonly number[] | null): void {
  if (ifVersions !== null && !ifVersions.includes(session.version)) {
    throw new AppError('PRECONDITION_FAILED', `The session is at version ${session.version} by now`);
  }
}
