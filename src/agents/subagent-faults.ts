import { agentsMentioning, existingAgents } from '../db/repositories/agents.js';
import type { Db } from '../db/store.js';
import type { AgentDefinition } from './definition.js';
import type { DefinitionFault } from './definition-faults.js';
import { SubagentGraph } from './subagent-graph.js';

export interface SubagentFault extends DefinitionFault {
  /** Of the agent whose definition it is in. */
  readonly name: string;
}

/**
 * What is wrong with the subagents of definitions that are to be stored together. Looks at the agents as they
 * would be then, in the transaction that stores them: one change may deepen what is above another.
 */
export async function subagentFaults(
  db: Db,
  tenant: string,
  definitions: readonly AgentDefinition[],
): Promise<SubagentFault[]> {
  const named = new Set(definitions.flatMap(({ subagents = [] }) => subagents));
  if (named.size === 0) return [];
  const subagents = new Map<string, readonly string[]>();
  for (const row of await agentsMentioning(db, tenant, 'subagents')) {
    const stored: AgentDefinition = JSON.parse(row.definition);
    subagents.set(row.name, stored.subagents ?? []);
  }
  const agents = await existingAgents(db, tenant, [...named]);
  for (const definition of definitions) {
    subagents.set(definition.name, definition.subagents ?? []);
    agents.add(definition.name);
  }
  const graph = new SubagentGraph(subagents);
  return definitions.flatMap(({ name }) =>
    graph.faultsOf(name, (other) => agents.has(other)).map((fault) => ({ name, ...fault })),
  );
}
