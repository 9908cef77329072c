import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { buildContext, effectiveSize, effectiveSummary, tailStart } from '../../src/compaction/context.js';
import { type ChatMessage, isSystem, measure } from '../../src/compaction/measure.js';
import { planMessages } from '../../src/compaction/plan-messages.js';
import { assistant, calls, result, system, user } from '../support/messages.js';
import { strictViolation } from '../support/strict.js';
import { anyConversation, strictConversation } from './conversations.js';

const PAIR_USER =
  '[Summary of previous conversation]\n\nS\n\n[End of summary: a record of what was said and done, not a new request.]';
const ACKNOWLEDGED = {
  role: 'assistant',
  content: 'Understood. I have the context of our previous conversation.',
};

describe('the context', () => {
  it('is all messages in order, unchanged, without a summary', () => {
    const messages = [user('a'), system('late'), assistant('b')];
    for (const summary of [null, '', ' \n']) {
      expect(buildContext(messages, { summary, size: 2 })).toEqual(messages);
    }
  });

  it('is the system messages, the pair and the tail', () => {
    const messages = [system('s1'), user('a'), assistant('b'), system('s2'), user('c')];
    expect(buildContext(messages, { summary: 'S', size: 2 })).toEqual([
      system('s1'),
      system('s2'),
      user(PAIR_USER),
      ACKNOWLEDGED,
      user('c'),
    ]);
  });

  it.each([
    ['an assistant message comes first', [assistant('b'), user('c')], false],
    [
      'the first turn after tool traffic is an assistant message',
      [calls(['k']), result('k', 'r'), assistant('b')],
      false,
    ],
    ['the tail is tool traffic only', [calls(['k']), result('k', 'r')], false],
    [
      'the first turn after tool traffic is a user message',
      [calls(['k']), result('k', 'r'), user('c')],
      true,
    ],
    ['the tail is orphan results', [result('k', 'r')], true],
    ['nothing follows', [], true],
  ])('when %s', (_, tail, acknowledged) => {
    const context = buildContext([user('a'), ...tail], { summary: 'S', size: 1 });
    expect(context).toEqual([user(PAIR_USER), ...(acknowledged ? [ACKNOWLEDGED] : []), ...tail]);
  });

  it('treats a list of no calls as no calls', () => {
    const greeting: ChatMessage = { role: 'assistant', content: 'hi', tool_calls: [] };
    expect(tailStart([greeting])).toEqual({ first: 'assistant', firstTurn: 'assistant' });
  });

  it('gives the same bytes for the same state, and leaves its input alone', () => {
    fc.assert(
      fc.property(anyConversation, fc.nat({ max: 40 }), fc.string(), (messages, size, summary) => {
        const before = JSON.stringify(messages);
        const first = JSON.stringify(buildContext(messages, { summary, size }));
        expect(JSON.stringify(buildContext(messages, { summary, size }))).toBe(first);
        expect(JSON.stringify(messages)).toBe(before);
      }),
    );
  });

  it('loses and repeats nothing after the pointer', () => {
    fc.assert(
      fc.property(anyConversation, fc.nat({ max: 40 }), (messages, size) => {
        const context = buildContext(messages, { summary: 'S', size });
        const systems = messages.filter(({ role }) => isSystem(role));
        const tail = messages.filter(({ role }) => !isSystem(role)).slice(size);
        const pair = context.slice(systems.length, context.length - tail.length);
        expect(context.slice(0, systems.length)).toEqual(systems);
        expect(context.slice(context.length - tail.length)).toEqual(tail);
        expect(pair[0]).toEqual(user(PAIR_USER));
        expect([1, 2]).toContain(pair.length);
      }),
    );
  });

  it('is taken by the strictest endpoint, at every cut, whenever the conversation is', () => {
    fc.assert(
      fc.property(strictConversation, fc.integer({ min: 1, max: 99 }), (messages, percent) => {
        expect(strictViolation(messages)).toBeNull();
        const conversation = messages.filter(({ role }) => !isSystem(role));
        let size = 0;
        let summary: string | null = null;
        for (;;) {
          const open = conversation.slice(size).map((message) => ({
            role: message.role,
            chars: measure(message).chars,
            toolCallCount: message.tool_calls?.length ?? 0,
          }));
          const summaryChars: number = summary === null ? 0 : 1;
          const plan = planMessages(open, {
            from: size,
            summaryChars,
            percent,
            keepRecent: 0,
            holdFrom: null,
          });
          if (plan.kind === 'up_to_date') break;
          size = plan.cut;
          summary = 'S';
          if (size < conversation.length)
            expect(strictViolation(buildContext(messages, { summary, size }))).toBeNull();
        }
      }),
      { numRuns: 500 },
    );
  });
});

describe('the effective state', () => {
  it.each([
    [null, 4, 10, 0],
    ['', 4, 10, 0],
    [' \n\t', 4, 10, 0],
    ['S', 4, 10, 4],
    ['S', 40, 10, 10],
    ['S', -1, 10, 0],
  ])(
    'of summary %j and pointer %d in %d messages is %d',
    (compact_summary, compact_size, conversation_count, size) => {
      expect(effectiveSize({ compact_summary, compact_size, conversation_count })).toBe(size);
    },
  );

  it('keeps a summary as it is', () => {
    expect(effectiveSummary(' S ')).toBe(' S ');
  });
});
