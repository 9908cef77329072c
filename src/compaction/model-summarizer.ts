import type { ChatClient } from '../llm/client.js';
import type { EndpointConfig } from '../llm/endpoint.js';
import type { CallResult } from '../llm/outcome.js';
import { createReplyRedactor } from '../llm/reply-secrets.js';
import { type SilentTruncation, silentTruncation } from '../llm/windows/silent-truncation.js';
import type { WindowFinder } from '../llm/windows/window-finder.js';
import type { Logger } from '../logger.js';
import { summaryPrompt } from './prompt.js';
import type { Summarizer, SummarizerBudget } from './summarizer.js';
import { WindowLessons } from './window-lessons.js';

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
  const lessons = windows === null ? null : new WindowLessons(windows, model);
  return {
    model,
    budget: budgetOf(windowTokens, chunkChars, lessons),
    maxOutputTokens: endpoint.maxOutputTokens,
    ready: async (signal) => {
      if (windowTokens !== null) return withWindow(parts, model, windowTokens);
      const window = await windows?.windowOf(model, signal);
      // A learned one paces the calls, as all that was learned does.
      const isTold = window !== undefined && window !== null && window.source !== 'learned';
      return withWindow(parts, model, isTold ? window.tokens : null);
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
      const dropped = droppedPart(prompt, windowTokens, result);
      if (dropped !== null) {
        logger.warn(
          { model, ...dropped },
          'the endpoint seems to have dropped part of the prompt: is its window set too small?',
        );
      }
      const isCapped = (request.maxOutputTokens ?? endpoint.maxOutputTokens) !== null;
      const judged = lessons?.learn(prompt, isCapped, result) ?? result;
      return { ...judged, outcome: redact(judged.outcome) };
    },
  };
}

function budgetOf(
  windowTokens: number | null,
  chunkChars: number,
  lessons: WindowLessons | null,
): SummarizerBudget {
  const budget: SummarizerBudget =
    windowTokens === null ? { unit: 'chars', transcriptChars: chunkChars } : { unit: 'tokens', windowTokens };
  return lessons === null ? budget : { ...budget, pace: () => lessons.sizes() };
}

/** What speaks for a prompt that was cut in silence; null when nothing does. */
function droppedPart(
  prompt: string,
  windowTokens: number | null,
  { outcome, usage, requests }: CallResult,
): SilentTruncation | null {
  if (outcome.kind !== 'ok') return null;
  // Usage is the sum over all requests of the call: only of a single one is it the size of the prompt.
  const promptTokens = requests === 1 ? usage.inputTokens : null;
  return silentTruncation({ texts: [prompt], promptTokens, windowTokens });
}
