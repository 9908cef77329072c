import type { ChatClient } from '../llm/client.js';
import type { EndpointConfig } from '../llm/endpoint.js';
import type { CallResult } from '../llm/outcome.js';
import { createReplyRedactor } from '../llm/reply-secrets.js';
import { silentTruncation } from '../llm/windows/silent-truncation.js';
import type { WindowFinder } from '../llm/windows/window-finder.js';
import type { Logger } from '../logger.js';
import { costOf } from './budget.js';
import { summaryPrompt } from './prompt.js';
import type { Summarizer } from './summarizer.js';

/** What the summarizers of one endpoint share. */
export interface ModelParts {
  readonly endpoint: EndpointConfig;
  readonly client: ChatClient;
  /** Null leaves windows to the configuration. */
  readonly windows: WindowFinder | null;
  /** Transcript per call while no window is known, in chars. */
  readonly chunkChars: number;
  readonly logger: Logger;
}

/** A summarizer behind a model endpoint; `model` may be another than the endpoint's own. */
export function createModelSummarizer(parts: ModelParts, model: string): Summarizer {
  const { endpoint } = parts;
  return withWindow(parts, model, model === endpoint.model ? endpoint.windowTokens : null);
}

function withWindow(parts: ModelParts, model: string, windowTokens: number | null): Summarizer {
  const { endpoint, client, windows, chunkChars, logger } = parts;
  const redact = createReplyRedactor(endpoint);
  return {
    model,
    budget:
      windowTokens === null
        ? { unit: 'chars', transcriptChars: chunkChars }
        : { unit: 'tokens', windowTokens },
    maxOutputTokens: endpoint.maxOutputTokens,
    ready: async (signal) => {
      if (windowTokens !== null) return withWindow(parts, model, windowTokens);
      const window = await windows?.windowOf(model, signal);
      if (window?.source !== 'learned') return withWindow(parts, model, window?.tokens ?? null);
      return withWindow({ ...parts, chunkChars: learnedChunk(window.tokens, parts.chunkChars) }, model, null);
    },
    summarize: async (request) => {
      const prompt = summaryPrompt(request);
      const result = await client.complete({
        model,
        // One user message: the shape that every endpoint accepts.
        messages: [{ role: 'user', content: prompt }],
        ...(request.maxOutputTokens === null ? {} : { maxOutputTokens: request.maxOutputTokens }),
        signal: request.signal,
      });
      const dropped = learn(windows, model, windowTokens, prompt, result);
      if (dropped !== null) {
        logger.warn(
          { model, ...dropped },
          'the endpoint seems to have dropped part of the prompt: is its window set too small?',
        );
      }
      return { ...result, outcome: redact(result.outcome) };
    },
  };
}

/** Chars of prompt around the transcript, roughly, and the least transcript that is worth a call. */
const FRAME_CHARS = 3_000;
const LEAST_CHUNK_CHARS = 1_000;

/**
 * Transcript per call, in chars, after an endpoint took a prompt of so many tokens and refused a larger one. The
 * learned size only says where to begin: taken for the window itself, a small one would leave no room for text,
 * no call would be made, and nothing could ever teach better.
 */
function learnedChunk(acceptedTokens: number, chunkChars: number): number {
  return Math.min(chunkChars, Math.max(LEAST_CHUNK_CHARS, acceptedTokens * 3 - FRAME_CHARS));
}

/** Tells the finder what the endpoint took or refused; gives back what speaks for a prompt that was cut in silence. */
function learn(
  windows: WindowFinder | null,
  model: string,
  windowTokens: number | null,
  prompt: string,
  { outcome, usage, requests }: CallResult,
) {
  const estimate = costOf(prompt, 'tokens');
  if (outcome.kind === 'overflow')
    windows?.refused(model, outcome.requestedTokens ?? estimate, outcome.windowTokens);
  if (outcome.kind !== 'ok') return null;
  // Usage is the sum over all requests of the call: only of a single one is it the size of the prompt.
  const promptTokens = requests === 1 ? usage.inputTokens : null;
  const dropped = silentTruncation({ texts: [prompt], promptTokens, windowTokens });
  if (dropped === null) windows?.accepted(model, promptTokens ?? estimate);
  return dropped;
}
