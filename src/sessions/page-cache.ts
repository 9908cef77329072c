import type { JoinedPage } from '../db/repositories/message-pages.js';

export interface CachedPage extends JoinedPage {
  /** Last `seq` of the page. */
  readonly to: number;
}

/**
 * Pages of messages as they travel, kept in memory up to a number of bytes, the least recently used falling
 * first. Messages never change, and the key holds the session's revision, which rises whenever rows below the
 * end could be others: a page found here is right, whichever process wrote the rows.
 */
export class PageCache {
  readonly #pages = new Map<string, CachedPage>();
  readonly #maxBytes: number;
  #bytes = 0;

  /** @param maxBytes 0 keeps nothing */
  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  get(key: string): CachedPage | undefined {
    const page = this.#pages.get(key);
    if (page !== undefined) {
      this.#pages.delete(key);
      this.#pages.set(key, page);
    }
    return page;
  }

  set(key: string, page: CachedPage): void {
    if (page.json.length > this.#maxBytes || this.#pages.has(key)) return;
    this.#pages.set(key, page);
    this.#bytes += page.json.length;
    for (const [oldest, { json }] of this.#pages) {
      if (this.#bytes <= this.#maxBytes) break;
      this.#pages.delete(oldest);
      this.#bytes -= json.length;
    }
  }
}
