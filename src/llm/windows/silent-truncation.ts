import { leastTokens } from './least-tokens.js';

/** Below this share of the fewest tokens the prompt can have, part of it was not read. */
const PLAUSIBLE_SHARE = 0.6;
/** Windows are larger than this, in tokens, and in short prompts the estimate proves nothing. */
const SMALLEST_PROMPT = 1_000;

/** Why a prompt was probably not read whole. Sizes in tokens. */
export type SilentTruncation =
  | { readonly kind: 'far_below'; readonly promptTokens: number; readonly expectedTokens: number }
  | { readonly kind: 'at_window'; readonly promptTokens: number; readonly windowTokens: number };

export interface SentPrompt {
  /** All texts of the messages that were sent. */
  readonly texts: readonly string[];
  /** `usage.prompt_tokens`; null when the endpoint did not say. */
  readonly promptTokens: number | null;
  /** The model's window, where it is known. */
  readonly windowTokens: number | null;
}

/**
 * Whether the endpoint dropped part of the prompt without saying so, as Ollama does with the oldest messages: it
 * then counted far fewer tokens than the prompt has, or exactly as many as fit. Null when nothing speaks for it.
 * Endpoints that do not count what they had in their cache look the same: a reason to warn, not to fail.
 */
export function silentTruncation({ texts, promptTokens, windowTokens }: SentPrompt): SilentTruncation | null {
  if (promptTokens === null) return null;
  // A prompt that fills the window leaves no room for a reply; that a request is built so does not happen.
  if (promptTokens === windowTokens) return { kind: 'at_window', promptTokens, windowTokens };
  const expectedTokens = texts.reduce((sum, text) => sum + leastTokens(text), 0);
  if (expectedTokens < SMALLEST_PROMPT || promptTokens >= expectedTokens * PLAUSIBLE_SHARE) return null;
  return { kind: 'far_below', promptTokens, expectedTokens };
}
