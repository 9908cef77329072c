import { isUtf8 } from 'node:buffer';
import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { AGENT_NAME_PATTERN, type AgentDefinition, withName } from './definition.js';
import { checkDefinition, type DefinitionFault } from './definition-faults.js';

/** An agent as a file defines it. */
export interface AgentFile {
  /** Its path. */
  readonly file: string;
  /** SHA-256 of its bytes: a file is applied once for each content. */
  readonly hash: string;
  readonly definition: AgentDefinition;
}

export interface AgentFileFault extends DefinitionFault {
  readonly file: string;
}

/** Thrown when agent files cannot be used; the message lists all that is wrong, a line for each. */
export class AgentFilesError extends Error {
  override readonly name = 'AgentFilesError';

  constructor(readonly faults: readonly AgentFileFault[]) {
    const lines = faults.map(({ file, pointer, reason }) =>
      pointer === '' ? `${file}: ${reason}` : `${file}: ${pointer} ${reason}`,
    );
    super(['The agent files are not valid:', ...lines].join('\n  '));
  }
}

/**
 * Reads the `*.json` files of a folder, hidden ones left out, each of which defines one agent. `name` may be left
 * out for the name of the file. Whether the subagents are there is for the service to say, which has the others.
 */
export async function readAgentFiles(folder: string): Promise<AgentFile[]> {
  const names = await readdir(folder).catch((error: unknown) => {
    throw new AgentFilesError([{ file: folder, pointer: '', reason: `cannot be read: ${messageOf(error)}` }]);
  });
  const files: AgentFile[] = [];
  const faults: AgentFileFault[] = [];
  const fileOf = new Map<string, string>();
  for (const base of names.filter((name) => name.endsWith('.json') && !name.startsWith('.')).sort()) {
    const file = join(folder, base);
    const read = await readAgentFile(file);
    if ('faults' in read) {
      faults.push(...read.faults.map((fault) => ({ file, ...fault })));
      continue;
    }
    const { name } = read.definition;
    const other = fileOf.get(name);
    if (other === undefined) fileOf.set(name, file);
    else faults.push({ file, pointer: '/name', reason: `is the agent of ${other} already: ${name}` });
    files.push({ file, ...read });
  }
  if (faults.length > 0) throw new AgentFilesError(faults);
  return files;
}

async function readAgentFile(
  file: string,
): Promise<Omit<AgentFile, 'file'> | { readonly faults: readonly DefinitionFault[] }> {
  const bytes = await readFile(file).catch((error: unknown) => messageOf(error));
  if (typeof bytes === 'string') return fault('', `cannot be read: ${bytes}`);
  // Decoding would replace what is broken, and the agent would not be what the file says.
  if (!isUtf8(bytes)) return fault('', 'is not valid UTF-8');
  const value = parse(bytes.toString().replace(/^\uFEFF/, ''));
  if (typeof value === 'string') return fault('', value);
  const checked = checkDefinition(value.json);
  if ('faults' in checked) return checked;
  const name = checked.definition.name ?? basename(file, '.json');
  if (!new RegExp(AGENT_NAME_PATTERN).test(name)) {
    return fault('/name', `is required, since the name of the file does not match ${AGENT_NAME_PATTERN}`);
  }
  const hash = createHash('sha256').update(bytes).digest('hex');
  return { hash, definition: withName(checked.definition, name) };
}

/** The JSON value of a text, or what is wrong with the text. */
function parse(text: string): { readonly json: unknown } | string {
  try {
    const json: unknown = JSON.parse(text);
    return { json };
  } catch (error) {
    return `is not valid JSON: ${messageOf(error)}`;
  }
}

function fault(pointer: string, reason: string) {
  return { faults: [{ pointer, reason }] };
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
