import { Type } from 'typebox';
import type { ChatMessage as Message } from '../../compaction/measure.js';
import { Count, named, nullable, pageOf, ref, stringEnum, Timestamp } from './common.js';

/**
 * OpenAI chat messages. Open objects: fields and part types that this service does not know are kept and
 * given back. One schema for all roles rather than a union: a union's errors would name every branch.
 */

export const ContentPart = named(
  'ContentPart',
  Type.Object(
    { type: Type.String({ minLength: 1 }) },
    {
      additionalProperties: true,
      if: { properties: { type: { const: 'text' } }, required: ['type'] },
      // biome-ignore lint/suspicious/noThenProperty: a JSON Schema keyword
      then: { properties: { text: { type: 'string' } }, required: ['text'] },
      examples: [{ type: 'text', text: 'Two berths to Oslo, please.' }],
    },
  ),
);

export const ToolCall = named(
  'ToolCall',
  Type.Object(
    {
      id: Type.Optional(Type.String()),
      type: Type.Optional(Type.String()),
      function: Type.Optional(
        Type.Object(
          {
            name: Type.Optional(Type.String()),
            arguments: Type.Optional(Type.String({ description: 'JSON text, kept as it is, valid or not' })),
          },
          { additionalProperties: true },
        ),
      ),
    },
    {
      additionalProperties: true,
      examples: [
        { id: 'call_1', type: 'function', function: { name: 'find_ferry', arguments: '{"to":"Oslo"}' } },
      ],
    },
  ),
);

export const ChatMessage = named(
  'ChatMessage',
  Type.Unsafe<Message>(
    Type.Object(
      {
        role: stringEnum(['system', 'developer', 'user', 'assistant', 'tool']),
        content: Type.Optional(
          Type.Unsafe<string | { type: string }[] | null>({
            type: ['string', 'array', 'null'],
            items: ref(ContentPart),
          }),
        ),
        name: Type.Optional(nullable(Type.String())),
        refusal: Type.Optional(nullable(Type.String())),
        tool_calls: Type.Optional(
          Type.Unsafe<object[] | null>({ type: ['array', 'null'], items: ref(ToolCall) }),
        ),
        tool_call_id: Type.Optional(nullable(Type.String({ description: 'Required on tool messages' }))),
      },
      {
        additionalProperties: true,
        description: 'A chat message in OpenAI format; unknown fields are kept and given back',
        if: { properties: { role: { const: 'tool' } }, required: ['role'] },
        // biome-ignore lint/suspicious/noThenProperty: a JSON Schema keyword
        then: { properties: { tool_call_id: { type: 'string' } }, required: ['tool_call_id'] },
        examples: [{ role: 'user', content: 'Two berths to Oslo on the evening of the 12th, please.' }],
      },
    ),
  ),
);

export const MAX_MESSAGES = 1_000;
export const Messages = Type.Array(ref(ChatMessage), { maxItems: MAX_MESSAGES });

export const AppendMessages = named(
  'AppendMessages',
  Type.Object(
    { messages: Type.Array(ref(ChatMessage), { minItems: 1, maxItems: MAX_MESSAGES }) },
    {
      additionalProperties: false,
      examples: [
        {
          messages: [
            { role: 'user', content: 'Two berths to Oslo on the evening of the 12th, please.' },
            {
              role: 'assistant',
              content: 'Berths 12 and 14 are free on the 18:30 ferry. Shall I book them?',
            },
          ],
        },
      ],
    },
  ),
);

const place = {
  id: Type.String(),
  seq: Type.Integer({ minimum: 0, description: 'Index among all messages of the session' }),
  position: nullable(
    Type.Integer({
      minimum: 0,
      description: 'Index among the conversation messages; null for system messages',
    }),
  ),
  chars: Type.Integer({ minimum: 0, description: 'Length of its text in UTF-16 units' }),
  created_at: Timestamp,
};

export const AppendedMessage = named('AppendedMessage', Type.Object(place));
export const AppendedMessages = named(
  'AppendedMessages',
  Type.Object({ data: Type.Array(ref(AppendedMessage)) }),
);
export const StoredMessage = named('StoredMessage', Type.Object({ ...place, message: ref(ChatMessage) }));
export const MessagePage = pageOf('MessagePage', StoredMessage);

export const Context = named(
  'Context',
  Type.Object({
    messages: Type.Array(ref(ChatMessage), {
      description: 'What to send to the model, new messages after it',
    }),
    summary_chars: Count,
    tail_count: Type.Integer({ minimum: 0, description: 'Conversation messages that no summary covers' }),
    chars: Type.Integer({ minimum: 0, description: 'Chars of all these messages' }),
    estimated_tokens: Type.Integer({ minimum: 0, description: 'UTF-8 bytes of their text / 3' }),
  }),
);
