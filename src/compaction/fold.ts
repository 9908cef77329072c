import { AppError } from '../errors.js';
import {
  costOf,
  fitsWindow,
  MIN_CHUNK_COST,
  MIN_TEXT_TOKENS,
  shrunkBudget,
  summaryLimit,
  textBudget,
} from './budget.js';
import type { ChunkReader } from './chunk-reader.js';
import type { Ledger } from './ledger.js';
import { summaryPrompt } from './prompt.js';
import type { Summarizer } from './summarizer.js';
import { type WrittenSummary, writeSummary } from './write-summary.js';

/** Summarizer calls per compaction; then it stops at the last safe cut, and the next call goes on from there. */
export const MAX_CALLS = 200;

export interface FoldOptions {
  readonly reader: ChunkReader;
  readonly summarizer: Summarizer;
  readonly ledger: Ledger;
  readonly instructions: string | null;
  /** The configured longest summary, in chars. */
  readonly summaryMaxChars: number;
  readonly signal: AbortSignal;
}

/** Everything before `size` is in `summary`: a state that may be committed. */
export interface FoldStep {
  readonly summary: string;
  readonly size: number;
}

/**
 * Folds a batch into the summary, in as many calls as it takes, and yields at each safe cut. Nothing is left
 * out: what does not fit one call goes into the next. Throws an AppError when a step fails; the steps that
 * were yielded stand.
 */
export async function* foldBatch(
  previousSummary: string | null,
  options: FoldOptions,
): AsyncGenerator<FoldStep> {
  const { reader, ledger } = options;
  const room = new Room(options);
  let summary = previousSummary;
  let stepped = false;
  while (!reader.done) {
    if (ledger.calls >= MAX_CALLS) {
      if (stepped) return;
      throw new AppError(
        'SUMMARY_BUDGET_TOO_SMALL',
        `${MAX_CALLS} calls did not reach a place to cut the history`,
      );
    }
    if (summary !== null && room.isTight(summary)) summary = await shortened(summary, options);
    const chunk = await reader.take(room.forText(summary));
    if (chunk.text === '') {
      // Empty messages before one that is too large to go with them: nothing to tell a model.
      reader.advance(chunk);
      continue;
    }
    const written = await foldChunk(summary, chunk.text, chunk.chars, options);
    if (written.kind === 'overflow') {
      room.shrink(chunk.text, summary, written.overflow);
      continue;
    }
    summary = written.summary;
    reader.advance(chunk);
    if (chunk.safeEnd !== null) {
      yield { summary, size: chunk.safeEnd };
      stepped = true;
    }
  }
}

function foldChunk(
  previousSummary: string | null,
  transcript: string,
  chars: number,
  { summarizer, ledger, instructions, summaryMaxChars, signal }: FoldOptions,
): Promise<WrittenSummary> {
  const replaced = (previousSummary?.length ?? 0) + chars;
  const maxChars = summaryLimit(replaced, summaryMaxChars, summarizer.budget);
  const allows = (summary: string) => summary.length <= maxChars && fitsWindow(summary, summarizer.budget);
  return writeSummary(
    { previousSummary, transcript, instructions, maxChars, signal },
    { summarizer, ledger, allows },
  );
}

/** A summary that leaves no room for text is rewritten alone, once: a larger model may have written it. */
async function shortened(summary: string, options: FoldOptions): Promise<string> {
  const { budget } = options.summarizer;
  if (budget.unit === 'tokens' && textBudget(budget, frameOf(summary, options), 0) > 0) {
    const written = await foldChunk(summary, '', 0, options);
    const room = new Room(options);
    if (written.kind === 'summary' && !room.isTight(written.summary)) return written.summary;
  }
  throw tooSmall();
}

function tooSmall(): AppError {
  return new AppError(
    'SUMMARY_BUDGET_TOO_SMALL',
    `The window of the summarizer leaves less than ${MIN_TEXT_TOKENS} tokens for text beside prompt and summary`,
  );
}

function frameOf(
  previousSummary: string | null,
  { instructions, summaryMaxChars }: FoldOptions,
  transcript = '',
): string {
  return summaryPrompt({
    previousSummary,
    transcript,
    instructions,
    maxChars: summaryMaxChars,
    lastReplyChars: null,
  });
}

/** How much transcript the next call may take: what the window leaves, and less once the endpoint refused more. */
class Room {
  readonly #options: FoldOptions;
  #ceiling = Number.POSITIVE_INFINITY;

  constructor(options: FoldOptions) {
    this.#options = options;
  }

  isTight(summary: string): boolean {
    return this.#options.summarizer.budget.unit === 'tokens' && this.#left(summary) < MIN_TEXT_TOKENS;
  }

  forText(summary: string | null): number {
    const left = this.#left(summary);
    if (this.#options.summarizer.budget.unit === 'tokens' && left < MIN_TEXT_TOKENS) throw tooSmall();
    return Math.min(left, this.#ceiling);
  }

  /** After an overflow; throws CONTEXT_OVERFLOW when pieces would get too small to be of use. */
  shrink(
    text: string,
    summary: string | null,
    told: { windowTokens: number | null; requestedTokens: number | null; message: string },
  ): void {
    const { unit } = this.#options.summarizer.budget;
    const smaller = shrunkBudget(
      costOf(text, unit),
      costOf(frameOf(summary, this.#options, text), unit),
      told,
    );
    if (smaller < MIN_CHUNK_COST) {
      const hint = 'configure a model with a larger window, or a shorter summary';
      throw new AppError('CONTEXT_OVERFLOW', `${this.#options.summarizer.model}: ${told.message} (${hint})`);
    }
    this.#ceiling = smaller;
  }

  #left(summary: string | null): number {
    const { summarizer, summaryMaxChars } = this.#options;
    return textBudget(summarizer.budget, frameOf(summary, this.#options), summaryMaxChars);
  }
}
