import type { FastifyBaseLogger, FastifyInstance } from 'fastify';
import { AgentFilesError, readAgentFiles } from './agents/agent-files.js';
import { AgentService } from './agents/agent-service.js';
import { buildApp } from './app.js';
import { type Config, ConfigError } from './config.js';
import { SchemaMismatch } from './db/migrations.js';
import { openStore } from './db/open-store.js';
import type { Store } from './db/store.js';
import { AppError } from './errors.js';
import { TENANT } from './http/tenant.js';
import { STRICT_WIRE } from './llm/wire/options.js';
import { createMainModel } from './main-model.js';
import { createSummarizers } from './summarizers.js';

/** Builds the app that a configuration describes, with real parts. It does not listen. */
export async function createApp(config: Config, logger: FastifyBaseLogger): Promise<FastifyInstance> {
  const summarizers = createSummarizers(config, logger);
  const main = createMainModel(config, logger);
  const close = async () => {
    await main?.close();
    await summarizers.close();
  };
  const store = await open(config, logger).catch(async (error: unknown) => {
    await close();
    throw error;
  });
  try {
    if (config.agentsDir !== null) await defineAgents(config.agentsDir, store, logger);
    return await buildApp(
      config,
      {
        store,
        clock: Date.now,
        summarizerFor: summarizers.summarizerFor,
        model: main?.chat ?? null,
        contextCacheBytes: config.contextCacheBytes,
        wire: config.strictWire ? STRICT_WIRE : {},
        compaction: {
          summaryMaxChars: config.summaryMaxChars,
          toolResultChars: config.toolResultChars,
          leaseMs: config.compactionLeaseMs,
          renewMs: Math.ceil(config.compactionLeaseMs / 3),
        },
        close,
      },
      logger,
    );
  } catch (error) {
    await store.close();
    await close();
    throw error;
  }
}

async function open(config: Config, logger: FastifyBaseLogger): Promise<Store> {
  try {
    return await openStore(config, (error) => logger.warn({ err: error }, 'a database connection was lost'));
  } catch (error) {
    // What an operator can mend, said without a stack.
    const known = error instanceof SchemaMismatch || error instanceof AppError;
    throw known ? new ConfigError(error.message, { cause: error }) : error;
  }
}

/** Before there is an app: what runs by itself from then on finds the agents that the files define. */
async function defineAgents(folder: string, store: Store, logger: FastifyBaseLogger): Promise<void> {
  try {
    const agents = new AgentService(store, Date.now);
    const defined = await agents.applyFiles(TENANT, await readAgentFiles(folder));
    if (defined.length > 0) logger.info({ agents: defined }, 'agents defined by files');
  } catch (error) {
    throw error instanceof AgentFilesError ? new ConfigError(error.message, { cause: error }) : error;
  }
}
