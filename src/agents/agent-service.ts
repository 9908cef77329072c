import {
  agentsMentioning,
  appliedFileHash,
  findAgent,
  listAgents,
  lockAgents,
  removeAgent,
  upsertAgent,
} from '../db/repositories/agents.js';
import type { Db, Store } from '../db/store.js';
import type { AgentRow } from '../db/tables.js';
import { AppError } from '../errors.js';
import { type AgentFile, AgentFilesError } from './agent-files.js';
import type { AgentDefinition } from './definition.js';
import { type DefinitionFault, definitionFaults } from './definition-faults.js';
import { subagentFaults } from './subagent-faults.js';

export interface Agent {
  /** Key of the row, for paging. */
  readonly pk: number;
  readonly definition: AgentDefinition;
  /** Ms since the epoch. */
  readonly created_at: number;
  readonly updated_at: number;
}

/** The definitions of agents. Whoever runs one reads it here each time: a change holds from the next call on. */
export class AgentService {
  readonly #store: Store;
  readonly #clock: () => number;

  constructor(store: Store, clock: () => number) {
    this.#store = store;
    this.#clock = clock;
  }

  /** Defines an agent, new or again. VALIDATION_FAILED names what is wrong with the definition. */
  put(tenant: string, definition: AgentDefinition): Promise<{ agent: Agent; created: boolean }> {
    return this.#write(tenant, async (db) => {
      const faults = definitionFaults(definition);
      refuse(faults.length > 0 ? faults : (await subagentFaults(db, tenant, [definition])).map(faultOf));
      const before = await findDefinition(db, tenant, definition.name);
      const row = await store(db, tenant, before, definition, this.#clock());
      return { agent: agentOf(row), created: before === null };
    });
  }

  async get(tenant: string, name: string): Promise<Agent> {
    return agentOf(found(await findAgent(this.#store.read, tenant, name), name));
  }

  /** Newest first. */
  async list(tenant: string, beforePk: number | null, limit: number): Promise<Agent[]> {
    return (await listAgents(this.#store.read, tenant, beforePk, limit)).map(agentOf);
  }

  /** AGENT_IN_USE while another agent has it as a subagent. Its sessions stay, and go on without its prompt. */
  remove(tenant: string, name: string): Promise<void> {
    return this.#write(tenant, async (db) => {
      const row = found(await findAgent(db, tenant, name), name);
      const users = (await agentsMentioning(db, tenant, name))
        .map(definitionOf)
        .filter(({ subagents }) => subagents?.includes(name))
        .map((user) => user.name);
      if (users.length > 0) {
        throw new AppError('AGENT_IN_USE', `${name} is a subagent of ${users.join(', ')}`);
      }
      await removeAgent(db, row, this.#clock());
    });
  }

  /** The definition as it is now. AGENT_NOT_FOUND when there is none of the name. */
  async definition(tenant: string, name: string): Promise<AgentDefinition> {
    return found(await findDefinition(this.#store.read, tenant, name), name);
  }

  /**
   * Applies the files whose content is not the one last applied, all or none; processes that start together do it
   * once. Throws AgentFilesError when their subagents do not fit what is stored.
   *
   * @returns the names of the agents that were defined
   */
  applyFiles(tenant: string, files: readonly AgentFile[]): Promise<string[]> {
    return this.#write(tenant, async (db) => {
      const changed: AgentFile[] = [];
      for (const file of files) {
        if ((await appliedFileHash(db, tenant, file.definition.name)) !== file.hash) changed.push(file);
      }
      const faults = await subagentFaults(
        db,
        tenant,
        changed.map(({ definition }) => definition),
      );
      if (faults.length > 0) {
        throw new AgentFilesError(
          faults.map(({ name, ...fault }) => {
            const file = changed.find(({ definition }) => definition.name === name)?.file ?? name;
            return { file, ...fault };
          }),
        );
      }
      for (const { definition, hash } of changed) {
        const before = await findDefinition(db, tenant, definition.name);
        await store(db, tenant, before, definition, this.#clock(), hash);
      }
      return changed.map(({ definition }) => definition.name);
    });
  }

  /** First of all the lock: what is read after it stays so until the transaction ends. */
  #write<T>(tenant: string, effect: (db: Db) => Promise<T>): Promise<T> {
    return this.#store.tx(async (db) => {
      await lockAgents(db, tenant);
      return effect(db);
    });
  }
}

/** Within a transaction or a snapshot; null when there is no agent of the name. */
export async function findDefinition(db: Db, tenant: string, name: string): Promise<AgentDefinition | null> {
  const row = await findAgent(db, tenant, name);
  return row === null ? null : definitionOf(row);
}

/** Percent that new sessions of an agent begin with; null for the default. AGENT_NOT_FOUND without the agent. */
export async function percentOfAgent(db: Db, tenant: string, name: string): Promise<number | null> {
  const { defaultCompaction } = found(await findDefinition(db, tenant, name), name);
  return defaultCompaction?.compactionCount ?? null;
}

function store(
  db: Db,
  tenant: string,
  before: AgentDefinition | null,
  definition: AgentDefinition,
  nowMs: number,
  fileHash?: string,
): Promise<AgentRow> {
  const seconds = definition.daemon?.everySeconds;
  // A schedule that stays as it is goes on from where it is.
  const kept = before !== null && before.daemon?.everySeconds === seconds;
  const tickInMs = kept ? undefined : seconds === undefined ? null : seconds * 1_000;
  const fields = { tenant, name: definition.name, definition: JSON.stringify(definition), tickInMs };
  return upsertAgent(db, fileHash === undefined ? fields : { ...fields, fileHash }, nowMs);
}

function definitionOf(row: AgentRow): AgentDefinition {
  const definition: AgentDefinition = JSON.parse(row.definition);
  return definition;
}

function agentOf(row: AgentRow): Agent {
  const { pk, created_at, updated_at } = row;
  return { pk, definition: definitionOf(row), created_at, updated_at };
}

function found<T>(value: T | null, name: string): T {
  if (value === null) throw new AppError('AGENT_NOT_FOUND', `There is no agent ${name}`);
  return value;
}

const faultOf = ({ pointer, reason }: DefinitionFault): DefinitionFault => ({ pointer, reason });

function refuse(faults: readonly DefinitionFault[]): void {
  if (faults.length === 0) return;
  const errors = faults.map(({ pointer, reason }) => ({ in: 'body', pointer, message: reason }) as const);
  const detail = errors.map(({ pointer, message }) => `body${pointer} ${message}`).join('; ');
  throw new AppError('VALIDATION_FAILED', detail, { errors });
}
