import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isSystem, measure } from '../../src/compaction/measure.js';
import { numberMessages } from '../../src/sessions/number-messages.js';
import { anyConversation } from '../compaction/conversations.js';
import { assistant, calls, result, system, user } from '../support/messages.js';

const EMPTY = { messageCount: 0, conversationCount: 0, totalChars: 0, openGroupStart: null };

describe('numbering', () => {
  it('counts system messages in seq only, and groups runs of results', () => {
    const messages = [
      system('ss'),
      user('u'),
      calls(['c'], 'a'),
      system('s'),
      result('c', 'r'),
      result('x', 'r'),
      assistant('b'),
      result('y', 'o'),
    ];
    const { numbered, next } = numberMessages(messages, EMPTY);
    expect(
      numbered.map(({ seq, position, group_start, running_total }) => [
        seq,
        position,
        group_start,
        running_total,
      ]),
    ).toEqual([
      [0, null, null, null],
      [1, 0, 0, 1],
      [2, 1, 1, 10],
      [3, null, null, null],
      [4, 2, 1, 11],
      [5, 3, 1, 12],
      [6, 4, 4, 13],
      [7, 5, 5, 14],
    ]);
    expect(next).toEqual({ messageCount: 8, conversationCount: 6, totalChars: 14, openGroupStart: null });
  });

  it('goes on where it stopped, however messages are split over appends', () => {
    fc.assert(
      fc.property(anyConversation, fc.nat({ max: 40 }), (messages, split) => {
        const whole = numberMessages(messages, EMPTY);
        const first = numberMessages(messages.slice(0, split), EMPTY);
        const second = numberMessages(messages.slice(split), first.next);
        expect([...first.numbered, ...second.numbered]).toEqual(whole.numbered);
        expect(second.next).toEqual(whole.next);
      }),
    );
  });

  it('keeps running totals of what messages measure', () => {
    fc.assert(
      fc.property(anyConversation, (messages) => {
        const { numbered } = numberMessages(messages, EMPTY);
        const conversation = messages.filter(({ role }) => !isSystem(role));
        let total = 0;
        for (const { position, running_total } of numbered) {
          if (position === null) continue;
          total += measure(conversation[position] ?? user('')).chars;
          expect(running_total).toBe(total);
        }
      }),
    );
  });
});
