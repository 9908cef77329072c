import type { ChatTool } from '../../llm/request-tools.js';
import type { AgentDefinition } from '../definition.js';

/** The one argument of a subagent: what it is asked to do. */
const SUBAGENT_PARAMETERS = {
  type: 'object',
  properties: { input: { type: 'string', description: 'The task, with everything that is needed for it' } },
  required: ['input'],
};

/**
 * The tools that a model is offered in a turn: the agent's own, which the caller runs, and one for each of its
 * subagents, which the service runs. In a turn that nobody waits for, the own ones stay out: nobody would run them.
 *
 * @param descriptionOf what a subagent is good for, by its name
 */
export function toolsOf(
  agent: AgentDefinition,
  callerRunsTools: boolean,
  descriptionOf: (subagent: string) => string | null,
): ChatTool[] {
  const own: readonly ChatTool[] = callerRunsTools ? (agent.tools ?? []) : [];
  const subagents = (agent.subagents ?? []).map((name): ChatTool => {
    const description = descriptionOf(name) ?? `Hands a task to the agent ${name} and gives back its answer`;
    return { type: 'function', function: { name, description, parameters: SUBAGENT_PARAMETERS } };
  });
  return [...own, ...subagents];
}

/** What a subagent is asked: its argument `input`, or the arguments as they are when there is no such thing. */
export function subagentInput(args: string): string {
  try {
    const parsed: unknown = JSON.parse(args);
    if (
      typeof parsed === 'object' &&
      parsed !== null &&
      'input' in parsed &&
      typeof parsed.input === 'string'
    )
      return parsed.input;
  } catch {
    // A model that writes no JSON still means something.
  }
  return args;
}
