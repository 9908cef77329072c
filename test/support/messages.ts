import type { ChatMessage } from '../../src/compaction/measure.js';

/** Short ways to write conversations. Texts of a length are varied, so that no two messages are alike. */

const WORDS =
  'ferry berth oslo deck cabin winter coast crossing harbour ticket seat breakfast lounge pier tide '.repeat(
    4,
  );

/** Text of exactly `chars` UTF-16 units. */
export function text(chars: number, mark = ''): string {
  return (mark + WORDS.repeat(Math.ceil(chars / WORDS.length) + 1)).slice(0, chars);
}

export const user = (content: string | number): ChatMessage => ({ role: 'user', content: of(content) });
export const assistant = (content: string | number): ChatMessage => ({
  role: 'assistant',
  content: of(content),
});
export const system = (content: string | number): ChatMessage => ({ role: 'system', content: of(content) });
export const result = (id: string, content: string | number): ChatMessage => ({
  role: 'tool',
  tool_call_id: id,
  content: of(content),
});

/** An assistant message that calls tools: each id is a call of `lookup` with empty arguments. */
export function calls(ids: readonly string[], content: string | number | null = null): ChatMessage {
  return {
    role: 'assistant',
    content: content === null ? null : of(content),
    tool_calls: ids.map((id) => ({ id, type: 'function', function: { name: 'lookup', arguments: '{}' } })),
  };
}

/** `count` messages of `chars` each, user and assistant by turns. */
export function turns(count: number, chars: number): ChatMessage[] {
  return Array.from({ length: count }, (_, i) =>
    i % 2 === 0 ? user(text(chars, `u${i} `)) : assistant(text(chars, `a${i} `)),
  );
}

const of = (content: string | number) => (typeof content === 'number' ? text(content) : content);
