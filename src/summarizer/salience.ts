/** A word that occurs this often is as salient as it gets; without the ceiling function words would win by number. */
const FULL_COUNT_BITS = 4;

/**
 * The words of one summarizer call with their counts, filled in one pass. The weight of a word is high when it
 * is frequent but not everywhere (tf-idf over blocks of text), which needs no list of stop words in any
 * language: a word that stands in every block weighs nothing.
 */
export class Vocabulary {
  readonly #ids = new Map<string, number>();
  readonly #counts: number[] = [];
  readonly #blocks: number[] = [];
  readonly #lastBlock: number[] = [];
  readonly #inTalk: boolean[] = [];
  #blockCount = 0;

  /** Starts the next block: a message, or the next 2,000 chars of a long one. */
  beginBlock(): void {
    this.#blockCount += 1;
  }

  /** The number of a word, case folded; the same for the whole call. */
  idOf(word: string): number {
    const known = this.#ids.get(word);
    if (known !== undefined) return known;
    const folded = word.toLowerCase();
    const id = this.#ids.get(folded) ?? this.#add(folded);
    // The word as written is remembered too: folding each occurrence again costs more than the look-up.
    this.#ids.set(word, id);
    return id;
  }

  /** Counts one occurrence in the current block. `isTalk`: said by the user or the assistant. */
  count(id: number, isTalk: boolean): void {
    this.#counts[id] = (this.#counts[id] ?? 0) + 1;
    if (this.#lastBlock[id] !== this.#blockCount) this.#blocks[id] = (this.#blocks[id] ?? 0) + 1;
    this.#lastBlock[id] = this.#blockCount;
    if (isTalk) this.#inTalk[id] = true;
  }

  /** Whether user or assistant said the word: what nobody spoke of in a tool's output is bulk. */
  isInTalk(id: number): boolean {
    return this.#inTalk[id] === true;
  }

  /** How rare a word is over the blocks: 0 in every block, near 1 in a single one of many. */
  rarity(id: number): number {
    const blocks = Math.max(1, this.#blockCount);
    return Math.log2((blocks + 1) / ((this.#blocks[id] ?? 0) + 1)) / Math.log2(blocks + 1);
  }

  /** Salience of a word, 0 to 1. */
  weight(id: number): number {
    const frequency = Math.min(1, Math.log2(1 + (this.#counts[id] ?? 0)) / FULL_COUNT_BITS);
    return frequency * Math.max(0, this.rarity(id));
  }

  #add(folded: string): number {
    const id = this.#counts.length;
    this.#ids.set(folded, id);
    this.#counts.push(0);
    this.#blocks.push(0);
    this.#lastBlock.push(-1);
    this.#inTalk.push(false);
    return id;
  }
}
