import { Value } from 'typebox/value';
import { isPercent } from '../compaction/percent.js';
import { AgentDefinitionSchema, type GivenDefinition } from './definition.js';

/** What is wrong with a definition: an RFC 6901 pointer into it, and why, to be read after "it". */
export interface DefinitionFault {
  readonly pointer: string;
  readonly reason: string;
}

/** As deep as bodies of requests may be nested. */
const MAX_DEPTH = 64;

/** A definition of unknown shape, as read from a file: what it is, or all that is wrong with it. */
export function checkDefinition(
  value: unknown,
): { readonly definition: GivenDefinition } | { readonly faults: readonly DefinitionFault[] } {
  if (!Value.Check(AgentDefinitionSchema, value)) return { faults: shapeFaults(value) };
  const faults = definitionFaults(value);
  return faults.length === 0 ? { definition: value } : { faults };
}

/** What is wrong with a definition of the right shape, apart from what its subagents are. */
export function definitionFaults(definition: GivenDefinition): DefinitionFault[] {
  const { tools = [], subagents = [], defaultCompaction } = definition;
  const faults = [...textFaults(definition, '', 0)];
  const functions = new Set<string>();
  for (const [index, { function: tool }] of tools.entries()) {
    const pointer = `/tools/${index}/function/name`;
    if (functions.has(tool.name)) faults.push({ pointer, reason: 'is the name of another tool already' });
    if (subagents.includes(tool.name)) faults.push({ pointer, reason: 'is the name of a subagent' });
    functions.add(tool.name);
  }
  for (const [index, name] of subagents.entries()) {
    if (subagents.indexOf(name) === index) continue;
    faults.push({ pointer: `/subagents/${index}`, reason: 'is in the list already' });
  }
  if (defaultCompaction !== undefined && !isPercent(defaultCompaction.compactionCount)) {
    const pointer = '/defaultCompaction/compactionCount';
    faults.push({ pointer, reason: 'must be 1 to 99 with at most 6 decimals' });
  }
  return faults;
}

/**
 * Text that a store or an endpoint would refuse, and numbers that JSON cannot write. Refused and not repaired, so
 * that a definition reads back as it was given.
 */
function* textFaults(value: unknown, pointer: string, depth: number): Generator<DefinitionFault> {
  if (typeof value === 'number' && !Number.isFinite(value)) yield { pointer, reason: 'is out of range' };
  if (typeof value === 'string') {
    const reason = faultOfText(value);
    if (reason !== null) yield { pointer, reason };
  }
  if (typeof value !== 'object' || value === null) return;
  if (depth === MAX_DEPTH) {
    yield { pointer, reason: `is nested more than ${MAX_DEPTH} levels deep` };
    return;
  }
  for (const [key, member] of Object.entries(value)) {
    const reason = faultOfText(key);
    if (reason !== null) yield { pointer, reason: `has a field whose name ${reason}` };
    else yield* textFaults(member, `${pointer}/${escapePointer(key)}`, depth + 1);
  }
}

function faultOfText(text: string): string | null {
  if (text.includes('\u0000')) return 'must not hold U+0000';
  return text.isWellFormed() ? null : 'must not hold half of a surrogate pair';
}

/** In the words of the service's other answers. Names every field once. */
function shapeFaults(value: unknown): DefinitionFault[] {
  const faults = Value.Errors(AgentDefinitionSchema, value).flatMap((error): DefinitionFault[] => {
    const { instancePath: pointer, message } = error;
    switch (error.keyword) {
      case 'required':
        return error.params.requiredProperties.map((name) => ({
          pointer: `${pointer}/${name}`,
          reason: 'is required',
        }));
      case 'additionalProperties':
        return error.params.additionalProperties.map((name) => ({
          pointer: `${pointer}/${escapePointer(name)}`,
          reason: 'is not a known field',
        }));
      // Only says again, beside each unknown field, that nothing else is allowed.
      case 'boolean':
        return [];
      case 'const':
        return [{ pointer, reason: `must be ${JSON.stringify(error.params.allowedValue)}` }];
      default:
        return [{ pointer, reason: message }];
    }
  });
  return faults.length === 0 ? [{ pointer: '', reason: 'is not an agent definition' }] : faults;
}

function escapePointer(name: string): string {
  return name.replaceAll('~', '~0').replaceAll('/', '~1');
}
