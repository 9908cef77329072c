import { costOf } from './budget.js';
import { safeCut } from './excerpt.js';
import type { SummarizerBudget } from './summarizer.js';

/** How much a chunk may hold: both limits count. */
export interface ChunkLimit {
  /** The unit of `cost`, where it is another than the reader's: a fallback may count in another one. */
  readonly unit?: SummarizerBudget['unit'];
  /** In the budget's own unit: what the window leaves, or the chars that are set. */
  readonly cost: number;
  /** In estimated tokens whatever the budget's unit, because sizes are learned in them; Infinity without any. */
  readonly tokens: number;
}

/** Adds up texts against a limit. */
export class Tally {
  readonly #unit: SummarizerBudget['unit'];
  readonly #limit: ChunkLimit;
  #cost = 0;
  #tokens = 0;

  constructor(unit: SummarizerBudget['unit'], limit: ChunkLimit) {
    this.#unit = unit;
    this.#limit = limit;
  }

  add(text: string): void {
    this.#cost += costOf(text, this.#unit);
    // Bytes are counted only where they matter: a batch may have megabytes.
    if (Number.isFinite(this.#limit.tokens)) this.#tokens += costOf(text, 'tokens');
  }

  get isOver(): boolean {
    return this.#cost > this.#limit.cost || this.#tokens > this.#limit.tokens;
  }
}

/** Length of the longest prefix that fits beside the lead; at least one char, never half a surrogate pair. */
export function longestWithin(
  text: string,
  lead: string,
  unit: SummarizerBudget['unit'],
  limit: ChunkLimit,
): number {
  const fits = (length: number): boolean => {
    const tally = new Tally(unit, limit);
    tally.add(lead);
    tally.add(text.slice(0, length));
    return !tally.isOver;
  };
  let low = 0;
  // A token is at most three chars by the estimate.
  let high = Math.min(text.length, Math.max(0, Math.min(limit.cost, limit.tokens)) * 3);
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if (fits(middle)) low = middle;
    else high = middle - 1;
  }
  const cut = safeCut(text, low);
  return cut > 0 ? cut : Math.min(text.length, 2);
}
