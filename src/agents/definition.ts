import { type Static, Type } from 'typebox';
import type { CompactDefaults } from '../compaction/compact-result.js';

/**
 * What an agent is: one schema for `PUT /agents/{name}` and for files, closed at every level but for the
 * `parameters` of tools, which are JSON Schema. What no schema can say stands in `definition-faults.ts`.
 */

/** Names are also the names of functions: an agent is called as a tool by those that have it as a subagent. */
export const AGENT_NAME_PATTERN = '^[A-Za-z0-9_-]{1,64}$';

/** Most model calls of one run of a turn, when the agent does not say. */
export const DEFAULT_MAX_STEPS = 20;

const closed = { additionalProperties: false } as const;

export const AgentName = Type.String({
  pattern: AGENT_NAME_PATTERN,
  description: 'Name of the agent',
  examples: ['ferry-clerk'],
});

const Model = Type.String({ minLength: 1, maxLength: 200 });

const AgentTool = Type.Object(
  {
    type: Type.Literal('function'),
    function: Type.Object(
      {
        name: Type.String({ pattern: AGENT_NAME_PATTERN }),
        description: Type.Optional(Type.String()),
        parameters: Type.Optional(
          Type.Unsafe<Record<string, unknown>>({
            type: 'object',
            additionalProperties: true,
            description: 'Any JSON Schema; it is sent as it is',
          }),
        ),
        strict: Type.Optional(Type.Boolean()),
      },
      closed,
    ),
  },
  closed,
);

const AutoCompaction = Type.Object(
  {
    maxTokens: Type.Optional(
      Type.Integer({ minimum: 1, description: 'Most tokens of system messages, tools, summary and tail' }),
    ),
    maxShare: Type.Optional(
      Type.Number({ exclusiveMinimum: 0, maximum: 1, description: 'The same, as a share of the window' }),
    ),
  },
  { ...closed, minProperties: 1, description: 'Compacts by itself before a model call over one of these' },
);

const DefaultCompaction = Type.Object(
  {
    compactionCount: Type.Number({
      minimum: 1,
      maximum: 99,
      description: 'Percent that new sessions take as their `compact_count`; at most 6 decimals',
    }),
    instructions: Type.Optional(
      Type.String({ maxLength: 4_000, description: 'Wishes for its summaries, added to the prompt' }),
    ),
    keepRecent: Type.Optional(
      Type.Integer({ minimum: 0, maximum: 1_000_000, description: 'The newest n messages stay out' }),
    ),
    model: Type.Optional(Model),
    auto: Type.Optional(AutoCompaction),
  },
  closed,
);

const Daemon = Type.Object(
  {
    prompt: Type.String({ maxLength: 200_000, pattern: '\\S', description: 'What each tick begins with' }),
    everySeconds: Type.Optional(
      Type.Integer({ minimum: 1, maximum: 31 * 86_400, description: 'Time from tick to tick' }),
    ),
  },
  closed,
);

export const AgentDefinitionSchema = Type.Object(
  {
    name: Type.Optional(AgentName),
    description: Type.Optional(
      Type.String({ maxLength: 4_000, description: 'What others know of it when they call it as a tool' }),
    ),
    model: Type.Optional(Model),
    systemPrompt: Type.Optional(Type.String({ maxLength: 200_000 })),
    temperature: Type.Optional(Type.Number({ minimum: 0, maximum: 2 })),
    maxTokens: Type.Optional(Type.Integer({ minimum: 1, description: 'Most tokens of one reply' })),
    tools: Type.Optional(
      Type.Array(AgentTool, { maxItems: 128, description: 'Run by whoever talks to the agent' }),
    ),
    subagents: Type.Optional(
      Type.Array(AgentName, { maxItems: 32, description: 'Agents that it may call as tools' }),
    ),
    maxSteps: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: 1_000,
        description: `Most model calls of one run of a turn; ${DEFAULT_MAX_STEPS} if it is left out`,
      }),
    ),
    daemon: Type.Optional(Daemon),
    defaultCompaction: Type.Optional(DefaultCompaction),
  },
  closed,
);

type Frozen<T> = T extends object ? { readonly [K in keyof T]: Frozen<T[K]> } : T;

/** A definition as it is given: the path or the file may say the name. */
export type GivenDefinition = Frozen<Static<typeof AgentDefinitionSchema>>;
export type AgentDefinition = GivenDefinition & { readonly name: string };
export type AgentTool = Frozen<Static<typeof AgentTool>>;

/** The definition with its name first, everything else as it was given and in that order. */
export function withName(given: GivenDefinition, name: string): AgentDefinition {
  return { name, ...given };
}

/** The prompt that contexts begin with; null for a blank one, which endpoints refuse as a message. */
export function systemPromptOf({ systemPrompt }: AgentDefinition): string | null {
  return systemPrompt === undefined || systemPrompt.trim() === '' ? null : systemPrompt;
}

/** What the agent wants of the compactions of its sessions, by hand and automatic. */
export function compactDefaultsOf({ defaultCompaction }: AgentDefinition): CompactDefaults {
  const { instructions = null, keepRecent = null, model = null } = defaultCompaction ?? {};
  return { instructions, keepRecent, model };
}
