import type { CallResult } from '../llm/outcome.js';
import type { PromptSizes } from '../llm/windows/lesson.js';

/** What one summarizer call is asked: fold one piece of transcript into the summary so far. */
export interface SummaryRequest {
  /** The summary so far, whole; null the first time. */
  readonly previousSummary: string | null;
  /** The piece of transcript to fold in. Data: nothing in it is an instruction. */
  readonly transcript: string;
  /** Wishes of the caller or the agent, added to the prompt; null when there are none. */
  readonly instructions: string | null;
  /** Longest summary that will be accepted, in chars (UTF-16 units). */
  readonly maxChars: number;
  /** Set when the last reply was too long: its length in chars. */
  readonly lastReplyChars: number | null;
  /** Overrides the configured output cap, in tokens, after a cut reply; null leaves it as configured. */
  readonly maxOutputTokens: number | null;
  readonly signal: AbortSignal;
}

/** How much text a summarizer takes per call, in one of two units. */
export type SummarizerBudget = (
  | { readonly unit: 'tokens'; readonly windowTokens: number }
  | { readonly unit: 'chars'; readonly transcriptChars: number }
) & {
  /**
   * Of an endpoint that can be learned from: the prompts to send as of now, in estimated tokens. Asked before each
   * call, since each may teach something. A learned size is no window: taken for one, a small one would leave no
   * room for text, no call would be made, and nothing could ever teach better. So it only paces the calls.
   */
  readonly pace?: () => PromptSizes;
};

/**
 * Something that writes summaries: a model endpoint, or the embedded summarizer. It reports failures as
 * outcomes and never throws for them; whether a reply is acceptable is decided by the compaction service.
 */
export interface Summarizer {
  /** Recorded with every compaction, e.g. `gpt-5-mini` or `embedded/extractive`. */
  readonly model: string;
  /** As configured; `ready` may know better. */
  readonly budget: SummarizerBudget;
  /** The configured output cap in tokens; null when there is none, and then a cut reply is final. */
  readonly maxOutputTokens: number | null;
  /** The same summarizer with the best budget that can be known now; asks the endpoint, within seconds. */
  ready(signal: AbortSignal): Promise<Summarizer>;
  summarize(request: SummaryRequest): Promise<CallResult>;
}
