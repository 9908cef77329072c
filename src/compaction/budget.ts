import { estimateTokens } from './measure.js';
import type { SummarizerBudget } from './summarizer.js';

/**
 * How much transcript fits one summarizer call. Costs are in the budget's own unit: chars, or tokens as
 * UTF-8 bytes / 3 until the endpoint tells better.
 */

/** Less room than this for text, in tokens, and folding would crawl: the summary must get shorter first. */
export const MIN_TEXT_TOKENS = 1_000;

export function costOf(text: string, unit: SummarizerBudget['unit']): number {
  return unit === 'chars' ? text.length : estimateTokens(Buffer.byteLength(text));
}

/**
 * The longest summary that may be stored, in chars: the configured maximum, and no more than the larger of
 * what it replaces and `SMALL_SUMMARY_CHARS` (small sessions). The window's quarter is checked by `fitsWindow`.
 */
export function summaryLimit(
  replacedChars: number,
  configuredChars: number,
  budget: SummarizerBudget,
): number {
  const limit = Math.min(configuredChars, Math.max(replacedChars, SMALL_SUMMARY_CHARS));
  return budget.unit === 'tokens' ? Math.min(limit, Math.floor((budget.windowTokens / 4) * 3)) : limit;
}

/** Summaries up to this length are welcome even when they replace less, in chars. */
export const SMALL_SUMMARY_CHARS = 2_000;

/** With a known window a summary may take a quarter of it, or nothing would be left to fold into it. */
export function fitsWindow(summary: string, budget: SummarizerBudget): boolean {
  return budget.unit === 'chars' || costOf(summary, 'tokens') <= budget.windowTokens / 4;
}

/** Pieces of transcript are not made smaller than this, in the budget's unit; below, the overflow is final. */
export const MIN_CHUNK_COST = 100;

/**
 * The budget for the next try after the endpoint refused a chunk as too large: what its numbers allow, less a
 * tenth, or a quarter where it named none. Always at most 9 tenths of the refused chunk, so that tries end.
 *
 * @param chunkCost cost of the refused transcript chunk
 * @param requestCost cost of the whole refused prompt
 */
export function shrunkBudget(
  chunkCost: number,
  requestCost: number,
  told: { readonly windowTokens: number | null; readonly requestedTokens: number | null },
): number {
  const { windowTokens, requestedTokens } = told;
  if (windowTokens !== null && requestedTokens !== null && requestedTokens > windowTokens) {
    const costPerToken = requestCost / requestedTokens;
    const excess = (requestedTokens - windowTokens * 0.9) * costPerToken;
    // Never below the quarter either: some endpoints count a reserve for the reply as requested.
    return Math.floor(Math.max(Math.min(chunkCost - excess, chunkCost * 0.9), chunkCost / 4));
  }
  return Math.floor(chunkCost / 4);
}
