import { AppError } from '../errors.js';
import { NOTHING_LEARNED } from '../llm/windows/lesson.js';
import type { ToldSizes } from '../llm/windows/told-window.js';
import { costOf, MIN_CHUNK_COST, MIN_TEXT_TOKENS, MOST_OF_REFUSED, shrunkBudget } from './budget.js';
import type { ChunkLimit } from './chunk-limit.js';
import { summaryPrompt } from './prompt.js';
import type { Summarizer } from './summarizer.js';

/** What stays the same over the calls of one compaction. */
export interface RoomOptions {
  readonly summarizer: Summarizer;
  readonly instructions: string | null;
  /** The configured longest summary, in chars. */
  readonly summaryMaxChars: number;
}

/** A learned size that prompt and summary fill still gets this much text, in tokens: it only says where to begin. */
const LEAST_PACED_TOKENS = 333;

/**
 * How much transcript the next call may take: what the window leaves, and less once the endpoint refused more, now or
 * in earlier compactions.
 */
export class Room {
  readonly #options: RoomOptions;
  /** Most text after a refusal, in the budget's unit. */
  #ceiling = Number.POSITIVE_INFINITY;
  /** Whether it is for the next call only: what was learned from the refusal says how to go on. */
  #isPassing = false;

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

  /** Transcript that the next call may take. SUMMARY_BUDGET_TOO_SMALL when tight. */
  forText(summary: string | null): ChunkLimit {
    if (this.isTight(summary)) throw budgetTooSmall();
    const cost = Math.min(this.#left(summary), this.#ceiling);
    if (this.#isPassing) this.#ceiling = Number.POSITIVE_INFINITY;
    return { unit: this.#options.summarizer.budget.unit, cost, tokens: this.#paced(summary) };
  }

  /** After an overflow; throws CONTEXT_OVERFLOW when pieces would get too small to be of use. */
  shrink(text: string, summary: string | null, told: ToldSizes & { readonly message: string }): void {
    const { budget, model } = this.#options.summarizer;
    const textCost = costOf(text, budget.unit);
    const frame = this.#frame(summary);
    const frameTokens = costOf(frame, 'tokens');
    const request = {
      cost: textCost + costOf(frame, budget.unit),
      tokens: costOf(text, 'tokens') + frameTokens,
    };
    const { pace } = budget;
    const { next, below } = pace?.() ?? NOTHING_LEARNED;
    // Where a refusal taught nothing, the ceiling holds for all calls.
    this.#isPassing = below <= request.tokens;
    const isPaced = this.#isPassing && next < below && next - frameTokens >= MIN_CHUNK_COST;
    // Where a size is known that fits, the ceiling only makes sure that tries end.
    const smaller = isPaced ? Math.floor(textCost * MOST_OF_REFUSED) : shrunkBudget(textCost, request, told);
    // Paced calls always try the least piece: success must not hang on where a learned size had them begin.
    if (smaller < MIN_CHUNK_COST && (pace === undefined || textCost <= MIN_CHUNK_COST)) {
      const hint = 'configure a model with a larger window, or a shorter summary';
      throw new AppError('CONTEXT_OVERFLOW', `${model}: ${told.message} (${hint})`);
    }
    this.#ceiling = Math.max(smaller, MIN_CHUNK_COST);
  }

  /** Text that keeps the prompt at a learned size, in tokens. */
  #paced(summary: string | null): number {
    const { next, below } = this.#options.summarizer.budget.pace?.() ?? NOTHING_LEARNED;
    const frame = costOf(this.#frame(summary), 'tokens');
    const text = Math.max(next - frame, LEAST_PACED_TOKENS);
    return Math.max(MIN_CHUNK_COST, Math.min(text, below - 1 - frame));
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
