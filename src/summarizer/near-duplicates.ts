import type { Vocabulary } from './salience.js';
import type { MeasuredDraft } from './score.js';

/** Sentences of the assistant and of tools with so much in common (Jaccard over words) are one. */
const SAME_SHARE = 0.9;
/** Each sentence is found under its rarest words; comparing all pairs would be quadratic. */
const KEYS = 2;
const MAX_COMPARED = 32;

/**
 * Remembers what was chosen and tells what says the same again. Two sentences with different numbers, paths
 * or names are never the same, and of the user's own words only an exact repetition is: "always deploy on
 * Friday" and "never deploy on Friday" differ in one word.
 */
export class NearDuplicates {
  readonly #vocabulary: Vocabulary;
  readonly #chosen = new Map<number, MeasuredDraft[]>();

  constructor(vocabulary: Vocabulary) {
    this.#vocabulary = vocabulary;
  }

  add(item: MeasuredDraft): void {
    for (const key of this.#rarest(item)) {
      const bucket = this.#chosen.get(key) ?? [];
      if (bucket.length < MAX_COMPARED) bucket.push(item);
      this.#chosen.set(key, bucket);
    }
  }

  has(item: MeasuredDraft): boolean {
    const words = new Set(item.words);
    return this.#rarest(item).some((key) =>
      (this.#chosen.get(key) ?? []).some((other) => isSame(item, words, other)),
    );
  }

  #rarest({ words }: MeasuredDraft): number[] {
    const byRarity = [...words].sort(
      (a, b) => this.#vocabulary.rarity(b) - this.#vocabulary.rarity(a) || a - b,
    );
    return byRarity.slice(0, KEYS);
  }
}

function isSame(item: MeasuredDraft, words: ReadonlySet<number>, other: MeasuredDraft): boolean {
  if (item.marks.length !== other.marks.length) return false;
  if (item.marks.some((mark, index) => mark !== other.marks[index])) return false;
  const common = other.words.reduce((count, word) => count + (words.has(word) ? 1 : 0), 0);
  const all = words.size + other.words.length - common;
  const needed = item.draft.isUsers || other.draft.isUsers ? 1 : SAME_SHARE;
  return common >= needed * all;
}
