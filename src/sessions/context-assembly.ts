import { type ChatMessage, estimateTokens, measure } from '../compaction/measure.js';
import type { CachedPage } from './page-cache.js';

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

/** Puts a context together from pieces of JSON text, and adds up what is in them. */
export class Assembly {
  readonly #json: Buffer[] = [];
  #chars = 0;
  #textBytes = 0;

  add(json: Buffer, chars: number, textBytes: number): void {
    if (this.#json.length > 0) this.#json.push(COMMA);
    this.#json.push(json);
    this.#chars += chars;
    this.#textBytes += textBytes;
  }

  addMessage(message: ChatMessage): void {
    const { chars, bytes } = measure(message);
    this.add(Buffer.from(JSON.stringify(message)), chars, bytes);
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
