import { ChatModel } from './agents/turn/chat-model.js';
import type { Config } from './config.js';
import { createBreaker } from './llm/circuit-breaker.js';
import { createChatClient } from './llm/client.js';
import { createWindowFinder } from './llm/windows/window-finder.js';
import { STRICT_WIRE } from './llm/wire/options.js';
import { WireMemory } from './llm/wire/wire-memory.js';
import type { Logger } from './logger.js';

export interface MainModel {
  readonly chat: ChatModel;
  close(): Promise<void>;
}

/** The endpoint that agents talk to, as configured; null without a model for it. */
export function createMainModel(config: Config, logger: Logger): MainModel | null {
  const endpoint = config.main;
  if (endpoint === null) return null;
  const client = createChatClient(endpoint, {
    onFailure: (event) => logger.warn({ ...event, model: endpoint.model }, 'a model request failed'),
  });
  const windows = config.windowDiscovery ? createWindowFinder(endpoint) : null;
  const wire = new WireMemory(config.strictWire ? STRICT_WIRE : {});
  return {
    chat: new ChatModel({ endpoint, client, windows, wire, breaker: createBreaker() }),
    close: async () => {
      await windows?.close();
      await client.close();
    },
  };
}
