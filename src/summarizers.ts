import { createModelSummarizer } from './compaction/model-summarizer.js';
import type { Summarizer } from './compaction/summarizer.js';
import type { Config } from './config.js';
import { AppError } from './errors.js';
import { createChatClient } from './llm/client.js';
import type { Logger } from './logger.js';
import { createEmbeddedSummarizer } from './summarizer/embedded-summarizer.js';

export interface Summarizers {
  /** The configured summarizer, or the one that a call names. MODEL_NOT_CONFIGURED without an endpoint for it. */
  summarizerFor(model: string | null): Summarizer;
  close(): Promise<void>;
}

/** The summarizers of a configuration: its endpoint, and the embedded one, which is always there. */
export function createSummarizers(config: Config, logger: Logger): Summarizers {
  const embedded = createEmbeddedSummarizer();
  const { compact: endpoint, summaryChunkChars } = config;
  if (endpoint === null) {
    return {
      summarizerFor: (model) => {
        if (model === null || model === embedded.model) return embedded;
        throw new AppError(
          'MODEL_NOT_CONFIGURED',
          `No endpoint is configured for the model ${model}; set COMPACT_MODEL or MAIN_MODEL`,
        );
      },
      close: () => embedded.close(),
    };
  }
  const client = createChatClient(endpoint, {
    onFailure: (event) => logger.warn({ ...event, model: endpoint.model }, 'a model request failed'),
  });
  return {
    summarizerFor: (model) =>
      model === embedded.model
        ? embedded
        : createModelSummarizer(client, endpoint, model ?? endpoint.model, summaryChunkChars),
    close: async () => {
      await client.close();
      await embedded.close();
    },
  };
}
