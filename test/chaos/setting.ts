import type { Client } from './client.js';
import { SUMMARY_MODEL } from './model.js';

/** What every node is started with. */
export function variablesFor(databaseUrl: string, modelUrl: string, leaseMs: number): Record<string, string> {
  return {
    PORT: '0',
    LOG_LEVEL: 'info',
    DATABASE_URL: databaseUrl,
    MIGRATE_ON_BOOT: 'true',
    // A node that is paused within a transaction: its locks are free again before clients lose patience.
    DATABASE_IDLE_TRANSACTION_TIMEOUT_MS: '2000',
    OPENAI_BASE_URL: modelUrl,
    MAIN_MODEL: 'turn-model',
    MAIN_RETRIES: '0',
    COMPACT_MODEL: SUMMARY_MODEL,
    COMPACT_RETRIES: '1',
    WINDOW_DISCOVERY: 'off',
    COMPACTION_LEASE_MS: String(leaseMs),
    // Summaries are lists of marks, which grow; and compactions are to take several calls.
    SUMMARY_MAX_CHARS: '1000000',
    SUMMARY_CHUNK_CHARS: '2500',
    SHUTDOWN_GRACE_MS: '500',
  };
}

const TOOLS = [{ type: 'function', function: { name: 'lookup' } }];

export async function defineAgents(client: Client, sessionIds: readonly string[]): Promise<void> {
  const auto = { compactionCount: 50, auto: { maxTokens: 700 } };
  const agents = {
    plain: {},
    tooler: { tools: TOOLS },
    helper: {},
    auto: { tools: TOOLS, subagents: ['helper'], defaultCompaction: auto },
  };
  for (const [name, body] of Object.entries(agents))
    await client.settle({ kind: 'setting', method: 'PUT', path: `/agents/${name}`, body });
  for (const id of sessionIds)
    await client.settle({ kind: 'setting', method: 'POST', path: '/sessions', body: { id } });
}
