import { type ChatMessage, isSystem } from '../compaction/measure.js';
import { DEFAULT_PERCENT } from '../compaction/percent.js';
import { insertMessage, openGroupStart } from '../db/repositories/messages.js';
import {
  changeSession,
  emptySession,
  findSession,
  findSessionEnd,
  growSession,
  insertSession,
  listSessions,
  removeSession,
  type SessionEnd,
  type SessionFilter,
} from '../db/repositories/sessions.js';
import type { Db, Store } from '../db/store.js';
import type { SessionRow } from '../db/tables.js';
import { AppError } from '../errors.js';
import { newId } from '../ids.js';
import { type NumberedMessage, type Numbering, numberMessages } from './number-messages.js';

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

export interface NewSessionRequest {
  readonly id: string | null;
  readonly agent: string | null;
  readonly title: string | null;
  /** Percent; null takes the default. */
  readonly compactCount: number | null;
  /** JSON text of an object. */
  readonly metadata: string | null;
  readonly messages: readonly IncomingMessage[];
}

/** Sessions and what is appended to them. Each method is one transaction: all of it, or nothing. */
export class SessionService {
  readonly #store: Store;
  readonly #clock: () => number;

  constructor(store: Store, clock: () => number) {
    this.#store = store;
    this.#clock = clock;
  }

  async create(tenant: string, request: NewSessionRequest): Promise<SessionRow> {
    const now = this.#clock();
    const id = request.id ?? newId('sess', now);
    try {
      return await this.#store.tx(async (db) => {
        const session = await insertSession(db, {
          tenant,
          id,
          agent: request.agent,
          title: request.title,
          metadata: request.metadata,
          compact_count: request.compactCount ?? DEFAULT_PERCENT,
          kind: 'manual',
          status: 'open',
          message_count: 0,
          conversation_count: 0,
          total_chars: 0,
          input_tokens: 0,
          output_tokens: 0,
          revision: 0,
          version: 1,
          created_at: now,
          updated_at: now,
        });
        if (request.messages.length === 0) return session;
        const { next } = await this.#insert(db, session, request.messages, now);
        const { messageCount, conversationCount, totalChars } = next;
        const countBefore = session.conversation_count;
        await growSession(db, session.pk, { messageCount, conversationCount, totalChars, countBefore }, now);
        return found(await findSession(db, tenant, id), id);
      });
    } catch (error) {
      if (this.#store.isUniqueViolation(error)) {
        throw new AppError('SESSION_EXISTS', `There is a session ${id} already`, { cause: error });
      }
      throw error;
    }
  }

  async get(tenant: string, id: string): Promise<SessionRow> {
    return found(await findSession(this.#store.read, tenant, id), id);
  }

  list(filter: SessionFilter, beforePk: number | null, limit: number): Promise<SessionRow[]> {
    return listSessions(this.#store.read, filter, beforePk, limit);
  }

  /** Appends messages as one contiguous run of `seq`. SESSION_CLOSED on a closed session. */
  append(tenant: string, id: string, messages: readonly IncomingMessage[]): Promise<StoredMessage[]> {
    return this.#store.tx(async (db) => {
      const session = found(await findSessionEnd(db, tenant, id), id);
      if (session.status === 'closed') throw new AppError('SESSION_CLOSED', `Session ${id} is closed`);
      const now = this.#clock();
      const { stored, next } = await this.#insert(db, session, messages, now);
      const { messageCount, conversationCount, totalChars } = next;
      const countBefore = session.conversation_count;
      await growSession(db, session.pk, { messageCount, conversationCount, totalChars, countBefore }, now);
      return stored;
    });
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

  /** Closes or reopens; does nothing to a session that is so already. */
  setStatus(tenant: string, id: string, status: SessionRow['status']): Promise<SessionRow> {
    return this.#store.tx(async (db) => {
      const session = found(await findSession(db, tenant, id), id);
      if (session.status === status) return session;
      const now = this.#clock();
      const closed_at = status === 'closed' ? now : null;
      return found(await changeSession(db, session.pk, { status, closed_at }, now), id);
    });
  }

  /** Deletes messages, compactions and summary; the session itself stays as it is. */
  reset(tenant: string, id: string): Promise<SessionRow> {
    return this.#store.tx(async (db) => {
      const session = found(await findSession(db, tenant, id), id);
      return found(await emptySession(db, session.pk, this.#clock()), id);
    });
  }

  remove(tenant: string, id: string, ifVersions: readonly number[] | null): Promise<void> {
    return this.#store.tx(async (db) => {
      const session = found(await findSession(db, tenant, id), id);
      requireVersion(session, ifVersions);
      await removeSession(db, session.pk);
    });
  }

  async #insert(
    db: Db,
    session: SessionEnd,
    incoming: readonly IncomingMessage[],
    now: number,
  ): Promise<{ stored: StoredMessage[]; next: Numbering }> {
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
      const row = { ...message, id: newId('msg', now), created_at: now };
      await insertMessage(db, { ...row, session_pk: session.pk, body: incoming[index]?.json ?? '' });
      const { id, seq, position, chars, created_at } = row;
      stored.push({ id, seq, position, chars, created_at });
    }
    return { stored, next };
  }
}

/** Whether it matters what the conversation ended with: only results join a group that is there already. */
function startsWithResult(incoming: readonly IncomingMessage[]): boolean {
  return incoming.find(({ message }) => !isSystem(message.role))?.message.role === 'tool';
}

function found<Row>(session: Row | null, id: string): Row {
  if (session === null) throw new AppError('SESSION_NOT_FOUND', `There is no session ${id}`);
  return session;
}

function requireVersion(session: SessionRow, ifVersions: readonly number[] | null): void {
  if (ifVersions !== null && !ifVersions.includes(session.version)) {
    throw new AppError('PRECONDITION_FAILED', `The session is at version ${session.version} by now`);
  }
}
