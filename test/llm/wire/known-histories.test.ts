import { describe, expect, it } from 'vitest';
import { buildContext } from '../../../src/compaction/context.js';
import type { ChatMessage } from '../../../src/compaction/measure.js';
import { cleanForWire } from '../../../src/llm/wire/clean-for-wire.js';
import { endsWithQuestion } from '../../../src/llm/wire/ends-with-question.js';
import { STRICT_WIRE } from '../../../src/llm/wire/options.js';
import { assistant, calls, result, system, user } from '../../support/messages.js';
import { strictViolation } from '../../support/strict.js';

/** Histories that made endpoints refuse a whole session, sent with and without the first messages summarized. */
const histories: readonly [string, ChatMessage[]][] = [
  [
    'an approval that came in time',
    [user('a'), assistant('b'), user('c'), calls(['c9']), result('c9', 'yes')],
  ],
  [
    'an approval that came after talk',
    [user('a'), calls(['c9']), user('b'), assistant('c'), result('c9', 'yes')],
  ],
  ['an old call that was never answered', [user('a'), calls(['c1']), user('b'), assistant('c'), user('d')]],
  [
    'results of calls that are not there',
    [
      result('c0', 'o'),
      user('a'),
      calls(['c1']),
      result('c1', 'r'),
      result('cX', 'o'),
      assistant('b'),
      user('c'),
    ],
  ],
  ['a greeting first', [assistant('Welcome aboard'), user('a'), assistant('b'), user('c')]],
  [
    'one question and long tool work',
    [user('a'), ...['1', '2', '3', '4'].flatMap((id) => [calls([id]), result(id, 'r')])],
  ],
  [
    'developer messages and late system messages',
    [{ role: 'developer', content: 'D' }, user('a'), assistant('b'), system('late'), user('c')],
  ],
  [
    'calls without a content field',
    [
      user('a'),
      { role: 'assistant', tool_calls: [{ id: 'c2', type: 'function', function: { name: 'f' } }] },
      result('c2', 'r'),
      user('b'),
    ],
  ],
  [
    'calls that are none',
    [
      user('a'),
      { role: 'assistant', content: 'hi', tool_calls: null },
      user('b'),
      { role: 'assistant', content: 'hi', tool_calls: [] },
      user('c'),
    ],
  ],
  [
    'nothing said',
    [
      user(''),
      assistant(''),
      { role: 'user', content: [] },
      assistant('b'),
      { role: 'user', content: [{ type: 'text', text: '' }] },
    ],
  ],
  ['half an emoji', [user('\ud83d tail'), assistant('b'), user('\ude00')]],
];

describe.each(histories)('%s', (_, messages) => {
  const conversation = messages.filter(({ role }) => role !== 'system' && role !== 'developer');
  const sizes = conversation.map((_message, size) => size);

  it.each(sizes)('is taken by a strict endpoint with %i messages summarized', (size) => {
    const context = buildContext(messages, { summary: size === 0 ? null : 'S', size });
    const sent = cleanForWire(context, STRICT_WIRE);
    expect(strictViolation(sent)).toBeNull();
    expect(endsWithQuestion(sent)).toBe(true);
    expect(JSON.stringify(sent)).not.toMatch(/\\ud[89a-f]/i);
  });
});
