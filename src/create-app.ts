import type { FastifyBaseLogger, FastifyInstance } from 'fastify';
import { buildApp } from './app.js';
import type { Config } from './config.js';
import { openSqliteStore, sqlitePath } from './db/store.sqlite.js';
import { STRICT_WIRE } from './llm/wire/options.js';
import { createSummarizers } from './summarizers.js';

/** Builds the app that a configuration describes, with real parts. It does not listen. */
export async function createApp(config: Config, logger: FastifyBaseLogger): Promise<FastifyInstance> {
  const summarizers = createSummarizers(config, logger);
  const store = openSqliteStore(sqlitePath(config.databaseUrl));
  try {
    return await buildApp(
      config,
      {
        store,
        clock: Date.now,
        summarizerFor: summarizers.summarizerFor,
        contextCacheBytes: config.contextCacheBytes,
        wire: config.strictWire ? STRICT_WIRE : {},
        compaction: {
          summaryMaxChars: config.summaryMaxChars,
          toolResultChars: config.toolResultChars,
          leaseMs: config.compactionLeaseMs,
          renewMs: Math.ceil(config.compactionLeaseMs / 3),
        },
        close: summarizers.close,
      },
      logger,
    );
  } catch (error) {
    await store.close();
    await summarizers.close();
    throw error;
  }
}
