import { expect, it } from 'vitest';
import { cleanForWire } from '../../../src/llm/wire/clean-for-wire.js';
import { endsWithQuestion } from '../../../src/llm/wire/ends-with-question.js';
import type { StoredMessage } from '../../../src/llm/wire/wire-message.js';
import { assistant, calls, result, system, user } from '../../support/messages.js';

it.each<[string, StoredMessage[], boolean]>([
  ['nothing', [], false],
  ['system messages only', [system('s')], false],
  ['a user message', [user('a')], true],
  ['a user message and a late system message', [user('a'), system('s')], true],
  ['an assistant message', [user('a'), assistant('b')], false],
  ['an empty assistant message', [user('a'), assistant('')], true],
  ['all results', [user('a'), calls(['x', 'y']), result('y', '2'), result('x', '1')], true],
  ['some results', [user('a'), calls(['x', 'y']), result('y', '2')], false],
  ['a call', [user('a'), calls(['x'])], false],
  ['a result that moves to its call', [user('a'), calls(['x']), assistant('b'), result('x', '1')], true],
  ['a result of no call', [user('a'), assistant('b'), result('x', '1')], true],
  ['a result of no call, alone', [result('x', '1')], false],
])('%s at the end', (_, messages, question) => {
  expect(endsWithQuestion(cleanForWire(messages, { pendingCalls: 'keep' }))).toBe(question);
});
