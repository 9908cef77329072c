import { randomUUID } from 'node:crypto';
import pg from 'pg';
import type { News } from '../store.js';
import { clientConfig } from './connections.js';
import type { Queryable } from './queries.js';
import type { PostgresSettings } from './settings.js';

const CHANNEL = 'compactd';
/** News of this time go out together, in ms: commits that notify wait for each other in the server. */
const GATHER_MS = 5;
/** A notification holds less than 8,000 bytes; news are short and of ASCII. */
const MAX_CHARS = 7_000;
/** How long to wait before another try to listen, in ms. */
const RETRY_MS = 1_000;

/**
 * News over LISTEN and NOTIFY. They travel outside of transactions, after what they tell of, and are lost while the
 * connection is: nobody may depend on them.
 */
export class PostgresNews implements News {
  readonly #queries: Queryable;
  readonly #config: pg.ClientConfig | null;
  readonly #sender = randomUUID();
  readonly #listeners = new Set<(text: string) => void>();
  #gathered: string[] = [];
  #client: pg.Client | null = null;
  #timer: NodeJS.Timeout | null = null;
  #closed = false;

  /** Behind a pooler by transaction nobody can listen: other processes are polled for. */
  constructor(url: string, settings: PostgresSettings, queries: Queryable) {
    this.#queries = queries;
    this.#config = settings.transactionPooler ? null : clientConfig(url, settings);
  }

  publish(text: string): void {
    if (this.#config === null || this.#closed) return;
    this.#gathered.push(text);
    if (this.#gathered.length === 1) setTimeout(() => this.#send(), GATHER_MS).unref();
  }

  subscribe(listener: (text: string) => void): () => void {
    this.#listeners.add(listener);
    if (this.#client === null && this.#timer === null) void this.#listen();
    return () => this.#listeners.delete(listener);
  }

  async close(): Promise<void> {
    this.#closed = true;
    if (this.#timer !== null) clearTimeout(this.#timer);
    await this.#client?.end().catch(() => {});
  }

  #send(): void {
    const news = [...new Set(this.#gathered)];
    this.#gathered = [];
    for (let batch: string[] = []; news.length > 0 && !this.#closed; batch = []) {
      for (let chars = 0; news.length > 0 && chars < MAX_CHARS; ) {
        const text = news.shift() ?? '';
        batch.push(text);
        chars += text.length + 3;
      }
      const payload = JSON.stringify([this.#sender, ...batch]);
      this.#queries.query({ text: 'SELECT pg_notify($1, $2)' }, [CHANNEL, payload]).catch(() => {}); // The poll of those who wait finds it.
    }
  }

  async #listen(): Promise<void> {
    if (this.#config === null || this.#closed) return;
    // No answer is waited for: a connection that is gone without a word shows by its keepalive.
    const client = new pg.Client({ ...this.#config, query_timeout: undefined });
    this.#client = client;
    client.on('error', () => {});
    client.on('notification', ({ payload = '[]' }) => this.#hear(payload));
    client.once('end', () => this.#again());
    try {
      await client.connect();
      await client.query(`LISTEN ${CHANNEL}`);
    } catch {
      await client.end().catch(() => {});
      this.#again();
    }
  }

  #again(): void {
    this.#client = null;
    if (this.#closed || this.#timer !== null) return;
    this.#timer = setTimeout(() => {
      this.#timer = null;
      void this.#listen();
    }, RETRY_MS).unref();
  }

  #hear(payload: string): void {
    const [sender, ...news]: string[] = JSON.parse(payload);
    if (sender === this.#sender) return;
    for (const text of news) for (const listener of this.#listeners) listener(text);
  }
}
