import type { AgentDefinition } from '../definition.js';
import type { ChatModel } from '../turn/chat-model.js';

/**
 * The most tokens that an agent's model calls may have before its sessions are compacted by themselves: the lower
 * of its two limits. Null when automatic compaction is off, or only a share is given and the window is not known.
 */
export async function limitOf(
  agent: AgentDefinition,
  model: ChatModel,
  signal: AbortSignal,
): Promise<number | null> {
  const auto = agent.defaultCompaction?.auto;
  if (auto === undefined) return null;
  const limits: number[] = auto.maxTokens === undefined ? [] : [auto.maxTokens];
  if (auto.maxShare !== undefined) {
    const window = await model.windowOf(agent, signal);
    if (window !== null) limits.push(Math.floor(window * auto.maxShare));
  }
  return limits.length === 0 ? null : Math.min(...limits);
}
