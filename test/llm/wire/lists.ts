import fc from 'fast-check';
import type { WireOptions } from '../../../src/llm/wire/options.js';
import { wireToolNames } from '../../../src/llm/wire/tool-names.js';
import type { StoredMessage } from '../../../src/llm/wire/wire-message.js';

/** Arbitrary lists for the properties of the clean-up: all that validation lets in, and old data. */

const someText = fc.oneof(
  { weight: 6, arbitrary: fc.string({ maxLength: 8, unit: 'grapheme' }) },
  { weight: 3, arbitrary: fc.constantFrom('', ' ', '\n\t') },
  { weight: 1, arbitrary: fc.constantFrom('half \ud83d', '\ude00 half', 'whole 😀', '(empty)') },
);

const part = fc.oneof(
  someText.map((text) => ({ type: 'text', text })),
  fc.constantFrom(
    { type: 'image_url', image_url: { url: 'https://pictures.example/pier.png' } },
    { type: 'unheard_of', deep: [{ half: '\udfff', '\udfff': 'half' }] },
  ),
);

const content = fc.oneof(
  { weight: 4, arbitrary: someText },
  { weight: 2, arbitrary: fc.array(part, { maxLength: 3 }) },
  { weight: 1, arbitrary: fc.constant(null) },
);

/** Few ids, so that they meet: one that is a short id already, one that is empty. */
const id = fc.constantFrom('a', 'b', '', 'call_0', 'Zz9Zz9Zz9');

const call = fc.record(
  {
    id,
    type: fc.constant('function'),
    function: fc.record(
      {
        name: fc.constantFrom('look_up', '', 'files.read', 'files/read', 'ä'.repeat(70)),
        arguments: fc.constantFrom(
          '{}',
          '{"n":2512292042121000001}',
          '',
          '[]',
          'null',
          '{"a',
          '"{}"',
          '"{\\"a\\":\\"\\\\ud83d\\"}"',
          '{"\\ude00":"\\ud83d\\n"}',
          {},
          { half: '\ud83d' },
        ),
      },
      { requiredKeys: [] },
    ),
    extra_content: fc.constant({ google: { thought_signature: 'c2ln' } }),
  },
  { requiredKeys: [] },
);

const fields = {
  content,
  name: fc.constantFrom('anna', 'ben', '', 'b e n', null),
  refusal: fc.oneof(fc.constant(null), fc.constant('No.'), someText),
  reasoning_content: someText,
};
const calls = fc.oneof(fc.constant(null), fc.array(call, { maxLength: 3 }));

const role = fc.constantFrom('user', 'user', 'assistant', 'assistant', 'assistant', 'system', 'developer');
const anyMessage: fc.Arbitrary<StoredMessage> = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.record({ role, ...fields, tool_calls: calls }, { requiredKeys: ['role'] }),
  },
  {
    weight: 1,
    arbitrary: fc.record(
      { role: fc.constant('tool'), tool_call_id: id, ...fields },
      { requiredKeys: ['role', 'tool_call_id'] },
    ),
  },
);

export const anyList: fc.Arbitrary<StoredMessage[]> = fc.array(anyMessage, { maxLength: 24 });

/** Lists that ask for an answer: they end with a user message or a tool result, and a user speaks in them. */
export const askingList = anyList
  .map((messages) => {
    const end = messages.findLastIndex(({ role }) => role === 'user' || role === 'tool');
    return messages.slice(0, end + 1);
  })
  .filter((messages) => messages.some(({ role }) => role === 'user'));

const flag = fc.boolean();
const names = ['look_up', 'files.read', wireToolNames([]).toWire('files.read')];
export const anyOptions: fc.Arbitrary<WireOptions> = fc.record(
  {
    keepDeveloper: flag,
    pendingCalls: fc.constantFrom('answer', 'keep'),
    emptyStringWithCalls: flag,
    strictAlternation: flag,
    bridgeToolToUser: flag,
    singleSystem: flag,
    noSystemRole: flag,
    textBeforeCalls: flag,
    portableNames: flag,
    toolNames: fc.constant(wireToolNames(names)),
    resultNames: flag,
    stringContent: flag,
    shortCallIds: flag,
    dropName: flag,
    firstUser: flag,
    stripReasoning: flag,
  },
  { requiredKeys: [] },
);
