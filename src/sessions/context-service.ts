import { setImmediate as nextTurn } from 'node:timers/promises';
import { effectiveSize, effectiveSummary, summaryMessages, type TailStart } from '../compaction/context.js';
import type { ChatMessage } from '../compaction/measure.js';
import { pageFrom, readJoinedPage } from '../db/repositories/message-pages.js';
import {
  firstTailMessages,
  messageAt,
  messageWithBody,
  systemMessages,
} from '../db/repositories/messages.js';
import { findSession, findSessionByPk } from '../db/repositories/sessions.js';
import type { Db, Store } from '../db/store.js';
import type { SessionRow } from '../db/tables.js';
import { AppError } from '../errors.js';
import { cleanForWire } from '../llm/wire/clean-for-wire.js';
import type { WireOptions } from '../llm/wire/options.js';
import { Assembly, type SessionContext } from './context-assembly.js';
import { PageCache } from './page-cache.js';

/** The system prompt of an agent as it is now; null for an agent that is gone or has none. */
export type PromptOf = (db: Db, tenant: string, agent: string) => Promise<string | null>;

export interface ContextSettings {
  /** Memory for pages of messages, in bytes. */
  readonly cacheBytes: number;
  /** What the endpoint of agents wants beyond the repairs that all of them take. */
  readonly wire: WireOptions;
  readonly promptOf: PromptOf;
}

/** Assembles contexts from one consistent state. Cost grows with the tail, not with the session. */
export class ContextService {
  readonly #store: Store;
  readonly #pages: PageCache;
  readonly #settings: ContextSettings;

  constructor(store: Store, settings: ContextSettings) {
    this.#store = store;
    this.#pages = new PageCache(settings.cacheBytes);
    this.#settings = settings;
  }

  /** The context as the messages are stored, after the prompt of the session's agent. */
  read(tenant: string, id: string): Promise<SessionContext> {
    return this.#store.snapshot(async (db) => {
      const session = await findSession(db, tenant, id);
      if (session === null) throw new AppError('SESSION_NOT_FOUND', `There is no session ${id}`);
      const { agent } = session;
      const prompt = agent === null ? null : await this.#settings.promptOf(db, tenant, agent);
      return this.#assemble(db, session, prompt);
    });
  }

  /**
   * The context as an endpoint takes it: a copy in which what endpoints refuse is repaired. Parsed as a whole, so
   * that its cost grows with the tail in a way that `read` does not.
   */
  async readForWire(tenant: string, id: string): Promise<SessionContext> {
    const view = await this.read(tenant, id);
    const parts = new Assembly();
    for (const message of cleanForWire(parsed(view), this.#settings.wire)) parts.addMessage(message);
    return parts.finish(view.summaryChars, view.tailCount);
  }

  /** The context of a turn of an agent with this prompt, and the session that it is of, in one state. */
  readForTurn(sessionPk: number, prompt: string | null): Promise<TurnContext> {
    return this.#store.snapshot(async (db) => {
      const session = await findSessionByPk(db, sessionPk);
      if (session === null) throw new AppError('SESSION_NOT_FOUND', 'The session was deleted');
      const context = await this.#assemble(db, session, prompt);
      return { session, messages: parsed(context), context };
    });
  }

  async #assemble(db: Db, session: SessionRow, prompt: string | null): Promise<SessionContext> {
    const parts = new Assembly();
    if (prompt !== null) parts.addMessage({ role: 'system', content: prompt });
    const summary = effectiveSummary(session.compact_summary);
    if (summary === null) {
      await this.#addRun(db, session, 0, true, parts);
      return parts.finish(0, session.conversation_count);
    }
    for (const { body, chars, text_bytes } of await systemMessages(db, session.pk)) {
      parts.add(Buffer.from(body), chars, text_bytes);
    }
    const size = effectiveSize(session);
    const first = await messageAt(db, session.pk, size);
    const carried = await carriedMessage(db, session, size);
    for (const message of summaryMessages(summary, await startOfTail(db, session.pk, first, carried))) {
      parts.addMessage(message);
    }
    if (carried !== null) parts.add(Buffer.from(carried.body), carried.chars, carried.text_bytes);
    if (first !== null) await this.#addRun(db, session, first.seq, false, parts);
    return parts.finish(summary.length, session.conversation_count - size);
  }

  /** Adds the messages from `seq` on, page by page, letting other requests in between. */
  async #addRun(
    db: Db,
    session: SessionRow,
    seq: number,
    withSystem: boolean,
    parts: Assembly,
  ): Promise<void> {
    const last = session.message_count - 1;
    for (let from = seq; from <= last; ) {
      const key = `${session.pk}:${session.revision}:${withSystem}:${from}`;
      let page = this.#pages.get(key);
      if (page === undefined) {
        const bounds = await pageFrom(db, session.pk, from, last);
        if (bounds === null) return;
        page = { ...(await readJoinedPage(db, session.pk, from, bounds.to, withSystem)), to: bounds.to };
        if (bounds.full) this.#pages.set(key, page);
        await nextTurn();
      }
      if (page.count > 0) parts.addPage(page);
      from = page.to + 1;
    }
  }
}

/** What a turn sends, and the state that it was read from. */
export interface TurnContext {
  readonly session: SessionRow;
  readonly messages: readonly ChatMessage[];
  readonly context: SessionContext;
}

function parsed({ json }: SessionContext): ChatMessage[] {
  return JSON.parse(`[${Buffer.concat(json).toString()}]`);
}

/** What the tail begins with, as the acknowledgement sees it: a carried user message stands before it. */
async function startOfTail(
  db: Db,
  sessionPk: number,
  first: { readonly seq: number } | null,
  carried: object | null,
): Promise<TailStart> {
  if (carried !== null) return { first: 'user', firstTurn: 'user' };
  return first === null ? { first: null, firstTurn: null } : firstTailMessages(db, sessionPk, first.seq);
}

/** The user message that passed the pointer without being summarized, word for word; null without one. */
async function carriedMessage(db: Db, session: SessionRow, size: number) {
  const position = session.carried_position;
  return position === null || position >= size ? null : messageWithBody(db, session.pk, position);
}
