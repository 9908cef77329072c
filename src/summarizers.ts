import { withFallback } from './compaction/fallback-summarizer.js';
import { guarded } from './compaction/guarded-summarizer.js';
import { createModelSummarizer, type ModelParts } from './compaction/model-summarizer.js';
import type { Summarizer } from './compaction/summarizer.js';
import type { Config } from './config.js';
import { AppError } from './errors.js';
import { type CallOrigin, createBreaker } from './llm/circuit-breaker.js';
import { createChatClient } from './llm/client.js';
import { type EndpointConfig, isSameModel } from './llm/endpoint.js';
import { createWindowFinder } from './llm/windows/window-finder.js';
import type { Logger } from './logger.js';
import { createEmbeddedSummarizer } from './summarizer/embedded-summarizer.js';

export interface Summarizers {
  /**
   * The configured summarizer, or the one that a call names. Automatic work stays away from an endpoint that is
   * down. MODEL_NOT_CONFIGURED without an endpoint for the model.
   */
  summarizerFor(model: string | null, origin: CallOrigin): Summarizer;
  close(): Promise<void>;
}

/** The summarizers of a configuration: its endpoint, and the embedded one, which is always there. */
export function createSummarizers(config: Config, logger: Logger): Summarizers {
  const embedded = createEmbeddedSummarizer();
  const parts = config.compact === null ? null : modelParts(config.compact, config, logger);
  const fallback = fallbackParts(config, logger);
  const configured = configuredSummarizer(parts, fallback, logger);
  const breaker = createBreaker();
  return {
    summarizerFor: (model, origin) => {
      if (model === embedded.model || (model === null && parts === null)) return embedded;
      if (parts !== null && model !== null)
        return guarded(createModelSummarizer(parts, model), breaker, origin);
      if (configured !== null) return guarded(configured, breaker, origin);
      throw new AppError(
        'MODEL_NOT_CONFIGURED',
        `No endpoint is configured for the model ${model}; set COMPACT_MODEL or MAIN_MODEL`,
      );
    },
    close: async () => {
      for (const each of [parts, fallback]) {
        await each?.windows?.close();
        await each?.client.close();
      }
      await embedded.close();
    },
  };
}

function configuredSummarizer(
  parts: ModelParts | null,
  fallback: ModelParts | null,
  logger: Logger,
): Summarizer | null {
  if (parts === null) return null;
  const first = createModelSummarizer(parts, parts.endpoint.model);
  if (fallback === null) return first;
  return withFallback(first, createModelSummarizer(fallback, fallback.endpoint.model), logger);
}

/** Main as the fallback, where that is configured and it is another endpoint or model at all. */
function fallbackParts(config: Config, logger: Logger): ModelParts | null {
  const { main, compact, compactFallback } = config;
  if (!compactFallback || main === null || compact === null) return null;
  return isSameModel(main, compact) ? null : modelParts(main, config, logger);
}

function modelParts(endpoint: EndpointConfig, config: Config, logger: Logger): ModelParts {
  const client = createChatClient(endpoint, {
    // Not as `message`: beside the line's own `msg`, a log reader would take that for a second one.
    onFailure: ({ message: reason, ...event }) =>
      logger.warn({ ...event, reason, model: endpoint.model }, 'a model request failed'),
  });
  const windows = config.windowDiscovery ? createWindowFinder(endpoint) : null;
  return { endpoint, client, windows, chunkChars: config.summaryChunkChars, logger };
}
