import { setImmediate as nextTurn } from 'node:timers/promises';
import { effectiveSize, effectiveSummary, summaryMessages, type TailStart } from '../compaction/context.js';
import { estimateTokens, measure } from '../compaction/measure.js';
import { pageFrom, readJoinedPage } from '../db/repositories/message-pages.js';
import { firstTailMessages, messageAt, systemMessages } from '../db/repositories/messages.js';
import { findSession } from '../db/repositories/sessions.js';
import type { Db, Store } from '../db/store.js';
import type { SessionRow } from '../db/tables.js';
import { AppError } from '../errors.js';
import { cleanForWire } from '../llm/wire/clean-for-wire.js';
import type { WireOptions } from '../llm/wire/options.js';
import type { StoredMessage } from '../llm/wire/wire-message.js';
import { type CachedPage, PageCache } from './page-cache.js';

/** The context of a session, ready to travel: the messages as JSON text, and what they add up to. */
export interface SessionContext {
  /** UTF-8 of the comma-separated messages, in pieces; without the brackets around them. */
  readonly json: readonly Buffer[];
  readonly summaryChars: number;
  readonly tailCount: number;
  /** Of all messages, the summary's pair included. */
  readonly chars: number;
  readonly estimatedTokens: number;
}

/** Assembles contexts from one consistent state. Cost grows with the tail, not with the session. */
export class ContextService {
  readonly #store: Store;
  readonly #pages: PageCache;
  readonly #wire: WireOptions;

  /**
   * @param cacheBytes memory for pages of messages
   * @param wire what the endpoint of agents wants beyond the repairs that all of them take
   */
  constructor(store: Store, cacheBytes: number, wire: WireOptions = {}) {
    this.#store = store;
    this.#pages = new PageCache(cacheBytes);
    this.#wire = wire;
  }

  /** The context as the messages are stored. */
  read(tenant: string, id: string): Promise<SessionContext> {
    return this.#store.snapshot(async (db) => {
      const session = await findSession(db, tenant, id);
      if (session === null) throw new AppError('SESSION_NOT_FOUND', `There is no session ${id}`);
      const parts = new Assembly();
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
      const start = first === null ? EMPTY_TAIL : await firstTailMessages(db, session.pk, first.seq);
      for (const message of summaryMessages(summary, start)) {
        const { chars, bytes } = measure(message);
        parts.add(Buffer.from(JSON.stringify(message)), chars, bytes);
      }
      if (first !== null) await this.#addRun(db, session, first.seq, false, parts);
      return parts.finish(summary.length, session.conversation_count - size);
    });
  }

  /**
   * The context as an endpoint takes it: a copy in which what endpoints refuse is repaired. Parsed as a whole, so
   * that its cost grows with the tail in a way that `read` does not.
   */
  async readForWire(tenant: string, id: string): Promise<SessionContext> {
    const view = await this.read(tenant, id);
    const messages: StoredMessage[] = JSON.parse(`[${Buffer.concat(view.json).toString()}]`);
    const parts = new Assembly();
    for (const message of cleanForWire(messages, this.#wire)) {
      const { chars, bytes } = measure(message);
      parts.add(Buffer.from(JSON.stringify(message)), chars, bytes);
    }
    return parts.finish(view.summaryChars, view.tailCount);
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

const EMPTY_TAIL: TailStart = { first: null, firstTurn: null };

class Assembly {
  readonly #json: Buffer[] = [];
  #chars = 0;
  #textBytes = 0;

  add(json: Buffer, chars: number, textBytes: number): void {
    if (this.#json.length > 0) this.#json.push(COMMA);
    this.#json.push(json);
    this.#chars += chars;
    this.#textBytes += textBytes;
  }

  addPage(page: CachedPage): void {
    this.add(page.json, page.chars, page.textBytes);
  }

  finish(summaryChars: number, tailCount: number): SessionContext {
    return {
      json: this.#json,
      summaryChars,
      tailCount,
      chars: this.#chars,
      estimatedTokens: estimateTokens(this.#textBytes),
    };
  }
}

const COMMA = Buffer.from(',');
