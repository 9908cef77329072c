import fc from 'fast-check';
import type { ChatMessage } from '../../src/compaction/measure.js';
import { assistant, calls, result, system, user } from '../support/messages.js';

/** Arbitrary conversations for properties. */

const words = fc.string({ maxLength: 60, unit: 'grapheme' });
const someText = words.map((text) => `x${text}`);

/** Any order of any messages: orphan results, unanswered calls, empty texts, foreign ids. */
export const anyConversation: fc.Arbitrary<ChatMessage[]> = fc.array(
  fc.oneof(
    { weight: 3, arbitrary: words.map(user) },
    { weight: 3, arbitrary: words.map(assistant) },
    {
      weight: 3,
      arbitrary: fc.tuple(fc.constantFrom('a', 'b', 'c'), words).map(([id, text]) => result(id, text)),
    },
    { weight: 2, arbitrary: fc.subarray(['a', 'b', 'c'], { minLength: 1 }).map((ids) => calls(ids)) },
    { weight: 1, arbitrary: words.map(system) },
  ),
  { maxLength: 40 },
);

const group = fc
  .tuple(fc.integer({ min: 1, max: 3 }), fc.array(someText, { minLength: 3, maxLength: 3 }))
  .map(([count, texts]) => {
    const ids = ['k1', 'k2', 'k3'].slice(0, count);
    return [calls(ids), ...ids.map((id, i) => result(id, texts[i] ?? 'x')).reverse()];
  });
const groups = fc.array(group, { maxLength: 3 }).map((list) => list.flat());

/** Conversations that the strictest endpoint takes: turns that alternate, every call answered, nothing empty. */
export const strictConversation: fc.Arbitrary<ChatMessage[]> = fc
  .tuple(
    fc.array(someText.map(system), { maxLength: 2 }),
    fc.array(
      fc
        .tuple(someText, groups, someText)
        .map(([ask, work, answer]) => [user(ask), ...work, assistant(answer)]),
      { maxLength: 8 },
    ),
    someText,
    groups,
  )
  .map(([systems, finished, ask, work]) => [...systems, ...finished.flat(), user(ask), ...work]);
