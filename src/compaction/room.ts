import { AppError } from '../errors.js';
import { costOf, MIN_CHUNK_COST, MIN_TEXT_TOKENS, shrunkBudget } from './budget.js';
import { summaryPrompt } from './prompt.js';
import type { Summarizer } from './summarizer.js';

/** What stays the same over the calls of one compaction. */
export interface RoomOptions {
  readonly summarizer: Summarizer;
  readonly instructions: string | null;
  /** The configured longest summary, in chars. */
  readonly summaryMaxChars: number;
}

/** How much transcript the next call may take: what the window leaves, and less once the endpoint refused more. */
export class Room {
  readonly #options: RoomOptions;
  #ceiling = Number.POSITIVE_INFINITY;

  constructor(options: RoomOptions) {
    this.#options = options;
  }

  /** Whether the summary leaves too little room for text; never without a known window. */
  isTight(summary: string | null): boolean {
    return this.#left(summary) < MIN_TEXT_TOKENS;
  }

  /** Whether a call for a shorter version of the summary fits, with no text beside it. */
  fitsAlone(summary: string): boolean {
    return this.#left(summary) >= 0;
  }

  /** Cost of transcript that the next call may take, in the budget's unit. SUMMARY_BUDGET_TOO_SMALL when tight. */
  forText(summary: string | null): number {
    if (this.isTight(summary)) throw budgetTooSmall();
    return Math.min(this.#left(summary), this.#ceiling);
  }

  /** After an overflow; throws CONTEXT_OVERFLOW when pieces would get too small to be of use. */
  shrink(
    text: string,
    summary: string | null,
    told: { windowTokens: number | null; requestedTokens: number | null; message: string },
  ): void {
    const { budget, model } = this.#options.summarizer;
    const textCost = costOf(text, budget.unit);
    const smaller = shrunkBudget(textCost, textCost + costOf(this.#frame(summary), budget.unit), told);
    if (smaller < MIN_CHUNK_COST) {
      const hint = 'configure a model with a larger window, or a shorter summary';
      throw new AppError('CONTEXT_OVERFLOW', `${model}: ${told.message} (${hint})`);
    }
    this.#ceiling = smaller;
  }

  /** What prompt, summary and reply leave for text. Less than 0 when they alone are too much. */
  #left(summary: string | null): number {
    const { summarizer, summaryMaxChars } = this.#options;
    const { budget, maxOutputTokens } = summarizer;
    if (budget.unit === 'chars') return budget.transcriptChars;
    // Endpoints count a cap as used before the reply begins; without one, a reply takes what it takes.
    const reply = maxOutputTokens ?? Math.min(Math.floor(budget.windowTokens / 4), summaryMaxChars);
    return budget.windowTokens - costOf(this.#frame(summary), 'tokens') - reply;
  }

  /** The largest prompt that a call may have beside its transcript: a second try says how long the first was. */
  #frame(previousSummary: string | null): string {
    const { instructions, summaryMaxChars } = this.#options;
    const lastReplyChars = 100_000_000;
    return summaryPrompt({
      previousSummary,
      transcript: ' ',
      instructions,
      maxChars: summaryMaxChars,
      lastReplyChars,
    });
  }
}

export function budgetTooSmall(): AppError {
  return new AppError(
    'SUMMARY_BUDGET_TOO_SMALL',
    `The window of the summarizer leaves less than ${MIN_TEXT_TOKENS} tokens for text beside prompt, summary and reply`,
  );
}
