import { Type } from 'typebox';
import {
  answer,
  Count,
  NO_NUL_PATTERN,
  named,
  nullable,
  optionalBody,
  pageOf,
  ref,
  SESSION_ID_PATTERN,
  stringEnum,
  Timestamp,
} from './common.js';
import { Messages } from './message.js';

const Title = nullable(Type.String({ maxLength: 500, pattern: NO_NUL_PATTERN }));
const Metadata = Type.Unsafe<object | null>({ type: ['object', 'null'], additionalProperties: true });

/** Percents with more than 6 decimals are refused by the route: JSON Schema cannot say it for binary numbers. */
export const CompactCount = Type.Number({
  minimum: 1,
  maximum: 99,
  description: 'Percent of the open context that one compaction folds; at most 6 decimals',
  examples: [50],
});

export const Session = named(
  'Session',
  Type.Object({
    id: Type.String(),
    agent: nullable(Type.String()),
    parent_session_id: nullable(Type.String()),
    kind: stringEnum(['manual', 'chat', 'task', 'subagent', 'daemon']),
    status: stringEnum(['open', 'closed']),
    title: nullable(Type.String()),
    metadata: Metadata,
    compact_summary: nullable(Type.String({ description: 'The rolling summary' })),
    compact_size: Type.Integer({ minimum: 0, description: 'Conversation messages that the summary covers' }),
    compact_count: CompactCount,
    message_count: Count,
    input_tokens: Count,
    output_tokens: Count,
    auto_compaction: Type.Object(
      {
        state: stringEnum(['on', 'stopped']),
        failures: Type.Integer({ minimum: 0, description: 'In a row; at 3 it stops' }),
        error: nullable(
          Type.String({ description: 'What became of the last one, when it failed or gained nothing' }),
        ),
      },
      {
        description:
          'Whether automatic compaction, where the agent has it, is tried on this session; `stopped` until a ' +
          'compaction by hand succeeds',
      },
    ),
    revision: Type.Integer({
      minimum: 0,
      description: 'Rises when the summary or the history below the end changes',
    }),
    version: Type.Integer({ minimum: 0, description: 'Rises with every visible change; the ETag' }),
    created_at: Timestamp,
    updated_at: Timestamp,
    closed_at: nullable(Timestamp),
  }),
);

/** The answer of every operation that gives one session back. */
export const theSession = answer('The session', ref(Session), {
  etag: { type: 'string', description: 'Its `version`, for If-Match' },
});

export const SessionPage = pageOf('SessionPage', Session);

const createFields = Type.Object({
  id: Type.Optional(Type.String({ pattern: SESSION_ID_PATTERN })),
  agent: Type.Optional(nullable(Type.String({ minLength: 1, maxLength: 128, pattern: NO_NUL_PATTERN }))),
  title: Type.Optional(Title),
  compactCount: Type.Optional(CompactCount),
  metadata: Type.Optional(Metadata),
  messages: Type.Optional(Messages),
});

export const CreateSession = named(
  'CreateSession',
  optionalBody(createFields, [
    {
      id: 'trip-to-oslo',
      title: 'Trip to Oslo',
      messages: [
        { role: 'system', content: 'You book ferries.' },
        {
          role: 'user',
          content: 'Two berths to Oslo on the evening of 12 December, at most EUR 320 in all.',
        },
        {
          role: 'assistant',
          content: 'Berths 12 and 14 are free on the 18:30 ferry, EUR 296. Shall I book them?',
        },
        { role: 'user', content: 'Yes, and add breakfast for one.' },
      ],
    },
  ]),
);

export const UpdateSession = named(
  'UpdateSession',
  Type.Object(
    { title: Type.Optional(Title), metadata: Type.Optional(Metadata) },
    { additionalProperties: false, minProperties: 1, examples: [{ title: 'Trip to Oslo, paid' }] },
  ),
);
