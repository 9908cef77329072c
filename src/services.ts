import { AgentService, findDefinition, percentOfAgent } from './agents/agent-service.js';
import { systemPromptOf } from './agents/definition.js';
import { CompactionService, type CompactionSettings } from './compaction/service.js';
import type { Summarizer } from './compaction/summarizer.js';
import type { Store } from './db/store.js';
import type { WireOptions } from './llm/wire/options.js';
import type { Logger } from './logger.js';
import { ContextService } from './sessions/context-service.js';
import { SessionService } from './sessions/session-service.js';

/** What the service is built from. Server, tests and tools supply the same parts. */
export interface ServiceParts {
  readonly store: Store;
  /** Ms since the epoch. */
  readonly clock: () => number;
  /** The summarizer for a call; null asks for the configured one. */
  readonly summarizerFor: (model: string | null) => Summarizer;
  readonly compaction: CompactionSettings;
  /** Memory for pages of messages that contexts are made of, in bytes. */
  readonly contextCacheBytes: number;
  /** How messages are cleaned for sending, beyond what every endpoint takes. */
  readonly wire: WireOptions;
  readonly logger: Logger;
}

export interface Services {
  readonly store: Store;
  readonly sessions: SessionService;
  readonly contexts: ContextService;
  readonly compaction: CompactionService;
  readonly agents: AgentService;
}

export function createServices(parts: ServiceParts): Services {
  const { store, clock, summarizerFor, logger } = parts;
  return {
    store,
    sessions: new SessionService(store, clock, percentOfAgent),
    contexts: new ContextService(store, {
      cacheBytes: parts.contextCacheBytes,
      wire: parts.wire,
      promptOf: async (db, tenant, agent) => {
        const definition = await findDefinition(db, tenant, agent);
        return definition === null ? null : systemPromptOf(definition);
      },
    }),
    compaction: new CompactionService({ store, clock, summarizerFor, logger, settings: parts.compaction }),
    agents: new AgentService(store, clock),
  };
}
