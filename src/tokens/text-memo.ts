/** Shorter texts are counted as fast as they are looked up, or nearly. */
const SHORTEST_CHARS = 200;
/** What an entry takes beside its text, about. */
const ENTRY_BYTES = 100;

/**
 * Counts of texts, the least recently used dropped first. A tool loop counts the same context before each step, and
 * messages read anew are other objects with equal texts: so the text is the key.
 */
export class TextMemo {
  readonly #maxBytes: number;
  readonly #counts = new Map<string, number>();
  #bytes = 0;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  /** Bytes held, counting two per char. */
  get bytes(): number {
    return this.#bytes;
  }

  count(text: string, compute: (text: string) => number): number {
    if (text.length < SHORTEST_CHARS) return compute(text);
    const known = this.#counts.get(text);
    if (known !== undefined) {
      this.#counts.delete(text);
      this.#counts.set(text, known);
      return known;
    }
    const counted = compute(text);
    if (bytesOf(text) <= this.#maxBytes) this.#keep(text, counted);
    return counted;
  }

  #keep(text: string, count: number): void {
    this.#counts.set(text, count);
    this.#bytes += bytesOf(text);
    for (const oldest of this.#counts.keys()) {
      if (this.#bytes <= this.#maxBytes) break;
      this.#counts.delete(oldest);
      this.#bytes -= bytesOf(oldest);
    }
  }
}

const bytesOf = (text: string): number => text.length * 2 + ENTRY_BYTES;
