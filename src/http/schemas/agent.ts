import { Type } from 'typebox';
import {
  AgentDefinitionSchema,
  AgentName,
  type AgentDefinition as Definition,
} from '../../agents/definition.js';
import { answer, named, pageOf, ref, Timestamp } from './common.js';

export const AgentParams = Type.Object({ name: AgentName }, { additionalProperties: false });

const example = {
  description: 'Books ferries in the North Sea',
  model: 'gpt-4.1',
  systemPrompt: 'You book ferries. Name the price before you book.',
  temperature: 0.3,
  tools: [
    {
      type: 'function',
      function: {
        name: 'find_ferry',
        description: 'Departures to a port on a day',
        parameters: {
          type: 'object',
          properties: { to: { type: 'string' }, day: { type: 'string', format: 'date' } },
          required: ['to', 'day'],
        },
      },
    },
  ],
  defaultCompaction: { compactionCount: 60, keepRecent: 4, auto: { maxShare: 0.8 } },
};

export const AgentDefinition = named(
  'AgentDefinition',
  Type.Object(AgentDefinitionSchema.properties, {
    additionalProperties: false,
    description: '`name` may be left out; if it is there, it is the name in the path',
    examples: [example],
  }),
);

export const Agent = named(
  'Agent',
  Type.Unsafe<Definition & { readonly created_at: string; readonly updated_at: string }>(
    Type.Object(
      { ...AgentDefinitionSchema.properties, name: AgentName, created_at: Timestamp, updated_at: Timestamp },
      { description: 'The definition as it was given, and since when' },
    ),
  ),
);

export const AgentPage = pageOf('AgentPage', Agent);

export const theAgent = (description: string) => answer(description, ref(Agent));
