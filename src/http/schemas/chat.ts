import { type Static, Type } from 'typebox';
import type { ContentPart as Part } from '../../compaction/measure.js';
import { Count, named, nullable, Problem, ref, SESSION_ID_PATTERN, stringEnum } from './common.js';
import { ChatMessage, ContentPart, ToolCall } from './message.js';

/** Text, or a list of parts, with something in it. */
const Content = Type.Unsafe<string | Part[]>({
  type: ['string', 'array'],
  minLength: 1,
  minItems: 1,
  items: ref(ContentPart),
});

export const ToolResult = named(
  'ToolResult',
  Type.Object(
    {
      toolCallId: Type.String({ description: 'The `id` of the call that it answers' }),
      content: Type.Unsafe<string | Part[]>({ type: ['string', 'array'], items: ref(ContentPart) }),
    },
    { additionalProperties: false },
  ),
);

export const ToolResults = Type.Array(ref(ToolResult), {
  minItems: 1,
  maxItems: 1_000,
  description: 'Results of calls that the turn waits for; some of them, or all',
});

export const TurnMessage = Content;

export const ChatRequest = named(
  'ChatRequest',
  Type.Object(
    {
      message: Type.Optional(Content),
      sessionId: Type.Optional(
        Type.String({
          pattern: SESSION_ID_PATTERN,
          description: 'Goes on with it; left out, a new one begins',
        }),
      ),
      toolResults: Type.Optional(ToolResults),
      stream: Type.Optional(
        Type.Boolean({ default: false, description: 'Answers with an event stream; see `ChatEvent`' }),
      ),
    },
    {
      additionalProperties: false,
      description:
        'A message, results of the tool calls that the turn waits for, or both: the results come first. With ' +
        'neither, the agent answers what the session ends with.',
      examples: [{ message: 'Two berths to Oslo on the evening of the 12th, please.' }],
    },
  ),
);

export const TurnUsage = named(
  'TurnUsage',
  Type.Object(
    { inputTokens: nullable(Count), outputTokens: nullable(Count) },
    { description: 'Sum over the model calls of the turn; null where the model did not say' },
  ),
);

export const TurnCompaction = named(
  'TurnCompaction',
  Type.Object(
    { id: Type.String(), fromSize: Count, toSize: Count, charsBefore: Count, charsAfter: Count },
    { description: 'The last automatic compaction of the turn' },
  ),
);

export const ChatAnswer = named(
  'ChatAnswer',
  Type.Object({
    sessionId: Type.String(),
    status: stringEnum(['completed', 'requires_action'], {
      description: '`requires_action`: run `toolCalls` and send their results',
    }),
    message: ref(ChatMessage),
    toolCalls: Type.Optional(Type.Array(ref(ToolCall))),
    finishReason: nullable(Type.String({ description: 'As the model gave it, such as `stop` or `length`' })),
    usage: ref(TurnUsage),
    compaction: Type.Optional(ref(TurnCompaction)),
  }),
);

/** One event of a stream, as a name and the JSON under it. */
function event<Name extends string>(name: Name, data: object, description: string) {
  return named(
    `${name
      .split('-')
      .map((word) => word.charAt(0).toUpperCase() + word.slice(1))
      .join('')}Event`,
    Type.Unsafe<object>({
      type: 'object',
      description,
      properties: { event: { type: 'string', const: name }, data },
      required: ['event', 'data'],
    }),
  );
}

const CallEvent = {
  type: 'object',
  properties: {
    id: { type: 'string' },
    name: { type: 'string' },
    arguments: { type: 'string' },
    by: { type: 'string', enum: ['caller', 'subagent'], description: 'Who runs it' },
  },
  required: ['id', 'name', 'arguments', 'by'],
};
const text = (field: string) => ({
  type: 'object',
  properties: { [field]: { type: 'string' } },
  required: [field],
});

export const CHAT_EVENTS = [
  event('session-opened', text('sessionId'), 'The message is stored; comes first'),
  event('message-delta', text('text'), 'A piece of the text of the message that is being written'),
  event('tool-called', CallEvent, 'The model called a tool'),
  event(
    'compaction-started',
    { type: 'object', properties: { estimatedTokens: { type: 'integer' } }, required: ['estimatedTokens'] },
    'The context is over its limit',
  ),
  event('compaction-finished', ref(TurnCompaction), 'Part of the session is summarized'),
  event(
    'compaction-failed',
    {
      type: 'object',
      properties: { code: { type: 'string' }, detail: { type: 'string' } },
      required: ['code', 'detail'],
    },
    'The turn goes on with the context as it is',
  ),
  event(
    'message-completed',
    { type: 'object', properties: { message: ref(ChatMessage) }, required: ['message'] },
    'A message of the agent, or the result of a subagent, is stored',
  ),
  event(
    'turn-completed',
    ref(ChatAnswer),
    'What the request would have answered without a stream; comes last',
  ),
  event('error', ref(Problem), 'The turn failed; comes last'),
];

/** The union of what a stream may hold, by `event`. */
export const ChatEvent = named(
  'ChatEvent',
  Type.Unsafe<object>({
    oneOf: CHAT_EVENTS.map((each) => ref(each)),
    discriminator: {
      propertyName: 'event',
    },
    description: 'One event of a stream: `event` is its name, `data` the JSON of its data',
  }),
);

export type ChatRequestBody = Static<typeof ChatRequest>;
