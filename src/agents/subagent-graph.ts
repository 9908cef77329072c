import type { DefinitionFault } from './definition-faults.js';

/** How many levels of subagents an agent may have below it. */
export const MAX_LEVELS = 3;

type Neighbours = ReadonlyMap<string, readonly string[]>;

/** Which agent has which subagents. Only what a change adds is looked at: what is stored was checked before. */
export class SubagentGraph {
  readonly #below: Neighbours;
  readonly #above: Neighbours;

  /** @param subagents of each agent that has any, the changed ones as they are to be */
  constructor(subagents: Neighbours) {
    this.#below = subagents;
    const above = new Map<string, string[]>();
    for (const [name, others] of subagents) {
      for (const other of others) {
        const known = above.get(other);
        if (known === undefined) above.set(other, [name]);
        else known.push(name);
      }
    }
    this.#above = above;
  }

  /** What is wrong with the subagents of one changed agent: not there, a loop, or too deep below any agent. */
  faultsOf(name: string, isAgent: (name: string) => boolean): DefinitionFault[] {
    const faults = this.#faults(name, (subagent) => {
      if (!isAgent(subagent)) return `is no agent: ${subagent}`;
      const loop = this.#wayBack(subagent, name);
      return loop === null ? null : `makes a loop: ${[name, ...loop].join(' -> ')}`;
    });
    // In a loop there is no telling how deep it goes.
    return faults.length > 0 ? faults : this.#faults(name, (subagent) => this.#tooDeep(name, subagent));
  }

  #faults(name: string, reasonOf: (subagent: string) => string | null): DefinitionFault[] {
    return (this.#below.get(name) ?? []).flatMap((subagent, index) => {
      const reason = reasonOf(subagent);
      return reason === null ? [] : [{ pointer: `/subagents/${index}`, reason }];
    });
  }

  #tooDeep(name: string, subagent: string): string | null {
    const chain = [...longestWalk(name, this.#above).reverse(), ...longestWalk(subagent, this.#below)];
    if (chain.length - 1 <= MAX_LEVELS) return null;
    if (new Set(chain).size < chain.length) return `has a loop on its way: ${chain.join(' -> ')}`;
    return `leads more than ${MAX_LEVELS} levels below an agent: ${chain.join(' -> ')}`;
  }

  /** The agents from one to another, both included; null when no way leads there. */
  #wayBack(from: string, to: string): string[] | null {
    const cameFrom = new Map<string, string | null>([[from, null]]);
    // A Map goes on through what is added while it is walked.
    for (const name of cameFrom.keys()) {
      if (name === to) return trace(to, (step) => cameFrom.get(step) ?? null);
      for (const next of this.#below.get(name) ?? []) if (!cameFrom.has(next)) cameFrom.set(next, name);
    }
    return null;
  }
}

/** The agents on the longest walk from one, cut off where it is too long already, which also ends loops. */
function longestWalk(start: string, neighbours: Neighbours): string[] {
  /** By length of the walk: where it may have come to, and from where. */
  let level = new Map<string, string | null>([[start, null]]);
  const levels = [level];
  while (levels.length <= MAX_LEVELS + 1) {
    const next = new Map<string, string | null>();
    for (const name of level.keys()) for (const other of neighbours.get(name) ?? []) next.set(other, name);
    if (next.size === 0) break;
    levels.push(next);
    level = next;
  }
  let length = levels.length;
  const [end = start] = level.keys();
  return trace(end, (name) => {
    length -= 1;
    return levels[length]?.get(name) ?? null;
  });
}

/** The steps to an end, in order, from where each was come to. */
function trace(end: string, before: (name: string) => string | null): string[] {
  const steps: string[] = [];
  for (let step: string | null = end; step !== null; step = before(step)) steps.unshift(step);
  return steps;
}
