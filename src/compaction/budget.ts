import { SHARE_OF_TOLD, type ToldSizes, toldWindow } from '../llm/windows/told-window.js';
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

/** Pieces of transcript are not made smaller than this, in the budget's unit; refused even so, the overflow is final. */
export const MIN_CHUNK_COST = 100;

/** The most of a refused chunk that is sent again: so tries end. */
export const MOST_OF_REFUSED = 0.9;

/**
 * The budget for the next try after the endpoint refused a chunk as too large: what the window that it named allows,
 * or a quarter where it named none of use. From a quarter to 9 tenths of the refused chunk, so that tries end, and soon:
 * some endpoints count a reserve for the reply as requested.
 *
 * @param chunkCost cost of the refused transcript chunk, in the budget's unit
 * @param request the whole refused prompt, in the budget's unit and in estimated tokens
 */
export function shrunkBudget(
  chunkCost: number,
  request: { readonly cost: number; readonly tokens: number },
  told: ToldSizes,
): number {
  const window = toldWindow(request.tokens, told);
  if (window === null) return Math.floor(chunkCost / 4);
  const excess = request.cost * (1 - (window.size * SHARE_OF_TOLD) / request.tokens);
  return Math.floor(Math.max(Math.min(chunkCost - excess, chunkCost * MOST_OF_REFUSED), chunkCost / 4));
}
