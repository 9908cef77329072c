import type { ChatTool } from '../../llm/request-tools.js';
import type { TurnContext } from '../../sessions/context-service.js';
import type { TokenEstimator } from '../../tokens/estimate.js';

export interface TokenCount {
  /** By the estimate alone. */
  readonly estimated: number;
  /** The estimate, corrected by what the endpoint last counted. */
  readonly tokens: number;
  /** Chars of the context's text per token: what a number of tokens too many means in text. */
  readonly charsPerToken: number;
}

/** Endpoints exist that report a constant: they must not make a long context look much shorter than it is. */
const LEAST_SHARE = 0.7;

/**
 * Tokens of the system messages, the tools, the summary and the tail. The endpoint's own count corrects the estimate
 * as long as the session's summary is the one it was made with: after a compaction that figure is of another text.
 */
export function countTokens(
  estimator: TokenEstimator,
  { session, messages, context }: TurnContext,
  tools: readonly ChatTool[],
): TokenCount {
  const estimated = estimator.ofMessages(messages) + estimator.ofTools(tools);
  const excess = session.token_excess_revision === session.revision ? (session.token_excess ?? 0) : 0;
  const tokens = Math.max(estimated + excess, Math.ceil(estimated * LEAST_SHARE));
  return { estimated, tokens, charsPerToken: context.chars / Math.max(1, estimated) };
}
