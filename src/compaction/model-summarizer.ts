import type { ChatClient } from '../llm/client.js';
import type { EndpointConfig } from '../llm/endpoint.js';
import { summaryPrompt } from './prompt.js';
import type { Summarizer } from './summarizer.js';

/**
 * A summarizer behind a model endpoint.
 *
 * @param model the model to ask for; another than the endpoint's own has no known window
 * @param chunkChars transcript chars per call while no window is known
 */
export function createModelSummarizer(
  client: ChatClient,
  endpoint: EndpointConfig,
  model: string,
  chunkChars: number,
): Summarizer {
  const windowTokens = model === endpoint.model ? endpoint.windowTokens : null;
  return {
    model,
    budget:
      windowTokens === null
        ? { unit: 'chars', transcriptChars: chunkChars }
        : { unit: 'tokens', windowTokens },
    maxOutputTokens: endpoint.maxOutputTokens,
    summarize: (request) =>
      client.complete({
        model,
        // One user message: the shape that every endpoint accepts.
        messages: [{ role: 'user', content: summaryPrompt(request) }],
        ...(request.maxOutputTokens === null ? {} : { maxOutputTokens: request.maxOutputTokens }),
        signal: request.signal,
      }),
  };
}
