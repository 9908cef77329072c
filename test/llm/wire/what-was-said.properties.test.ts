import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { cleanForWire } from '../../../src/llm/wire/clean-for-wire.js';
import type { WireMessage } from '../../../src/llm/wire/wire-message.js';
import { anyConversation } from '../../compaction/conversations.js';
import { anyOptions } from './lists.js';

const RUNS = { numRuns: 2_000 };

describe('what was said', () => {
  /** Every text that is not blank carries the index of its message. */
  const marked = anyConversation.map((messages) =>
    messages.map((message, i) =>
      typeof message.content === 'string' && message.content.trim() !== ''
        ? { ...message, content: `${message.content}<${i}>` }
        : message,
    ),
  );

  it('is sent once, and in its order, except for results that answer no open call', () => {
    fc.assert(
      fc.property(marked, anyOptions, (messages, options) => {
        const sent = marksOf(cleanForWire(messages, options));
        const said = marksOf(messages);
        const isResult = (mark: number) => messages[mark]?.role === 'tool';
        const isTurn = (mark: number) => ['user', 'assistant'].includes(messages[mark]?.role ?? '');
        const trailing = messages.findLastIndex((message, i) => isTurn(i) && !isSilent(message)) + 1;

        expect(new Set(sent).size).toBe(sent.length);
        expect(sent.filter(isTurn)).toEqual(said.filter(isTurn));
        const missing = said.filter((mark) => !sent.includes(mark));
        expect(missing.filter((mark) => !isResult(mark) || answersOpenCall(messages, mark))).toEqual([]);
        const surplus = sent.filter((mark) => isResult(mark) && !answersOpenCall(messages, mark));
        expect(surplus.filter((mark) => mark < trailing)).toEqual([]);
      }),
      RUNS,
    );
  });
});

/** Marks in the texts of a list, in order. */
function marksOf(messages: readonly WireMessage[]): number[] {
  const texts = messages.map(({ content }) => (typeof content === 'string' ? content : ''));
  return [...texts.join('\n').matchAll(/<(\d+)>/g)].map(([, mark]) => Number(mark));
}

/** An assistant message that is not sent. */
function isSilent({ role, content, tool_calls }: WireMessage): boolean {
  return role === 'assistant' && tool_calls === undefined && content?.toString().trim() === '';
}

/**
 * Whether a result is one of the first for the nearest call before it that has its id: as many are taken as there
 * are such calls directly one after another. Ids are unique in a message.
 */
function answersOpenCall(messages: readonly WireMessage[], index: number): boolean {
  const id = messages[index]?.tool_call_id;
  const has = (message: WireMessage | undefined) =>
    message?.tool_calls?.some((call) => call.id === id) === true;
  const home = messages.slice(0, index).findLastIndex(has);
  if (home < 0) return false;
  const step = messages.slice(0, home + 1);
  const open = step.slice(step.findLastIndex(({ tool_calls }) => !tool_calls?.length) + 1).filter(has).length;
  return messages.slice(home, index).filter(({ tool_call_id }) => tool_call_id === id).length < open;
}
