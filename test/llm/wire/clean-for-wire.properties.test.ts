import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { ChatMessage } from '../../../src/compaction/measure.js';
import { cleanForWire } from '../../../src/llm/wire/clean-for-wire.js';
import { endsWithQuestion } from '../../../src/llm/wire/ends-with-question.js';
import { STRICT_WIRE, type WireOptions } from '../../../src/llm/wire/options.js';
import { strictConversation } from '../../compaction/conversations.js';
import { strictViolation } from '../../support/strict.js';
import { anyList, anyOptions, askingList } from './lists.js';

const RUNS = { numRuns: 2_000 };

describe('any list, cleaned with any options', () => {
  it('is clean: cleaning it again gives the same objects', () => {
    fc.assert(
      fc.property(anyList, anyOptions, (messages, options) => {
        const once = cleanForWire(messages, options);
        const twice = cleanForWire(once, options);
        expect(twice).toEqual(once);
        expect(twice.findIndex((message, i) => message !== once[i])).toBe(-1);
      }),
      RUNS,
    );
  });

  it('leaves what it was given as it was', () => {
    fc.assert(
      fc.property(anyList, anyOptions, (messages, options) => {
        const before = structuredClone(messages);
        cleanForWire(deepFreeze(messages), options);
        expect(messages).toEqual(before);
      }),
      RUNS,
    );
  });

  it('has no lone surrogate anywhere in its JSON', () => {
    fc.assert(
      fc.property(anyList, anyOptions, (messages, options) => {
        expect(JSON.stringify(cleanForWire(messages, options))).not.toMatch(/\\ud[89a-f]/i);
      }),
      RUNS,
    );
  });

  it('has calls with arguments that are an object of well-formed text, and with ids of their own', () => {
    fc.assert(
      fc.property(anyList, anyOptions, (messages, options) => {
        const clean = cleanForWire(messages, options);
        const calls = clean.flatMap(({ tool_calls }) => tool_calls ?? []);
        for (const { function: called } of calls) {
          if (called === undefined) continue;
          const given: unknown = JSON.parse(called.arguments ?? '');
          expect(given).toBeTypeOf('object');
          expect(JSON.stringify(given)).not.toMatch(/\\ud[89a-f]/i);
          if (options.portableNames) expect(called.name).toMatch(/^[a-zA-Z0-9_-]{1,64}$/);
        }
        const ids = calls.map(({ id }) => id ?? '');
        expect(ids).not.toContain('');
        expect(new Set(ids).size).toBe(ids.length);
      }),
      RUNS,
    );
  });

  it('has no system message with no system role, but for lists of nothing else', () => {
    fc.assert(
      fc.property(anyList, anyOptions, (messages, options) => {
        const clean = cleanForWire(messages, { ...options, noSystemRole: true });
        const systems = clean.filter(({ role }) => role === 'system' || role === 'developer').length;
        expect(systems === 0 || systems === clean.length).toBe(true);
      }),
      RUNS,
    );
  });

  it('says nothing beside calls where words and calls must be apart', () => {
    fc.assert(
      fc.property(anyList, anyOptions, (messages, options) => {
        const clean = cleanForWire(messages, { ...options, textBeforeCalls: true });
        const callers = clean.filter(({ tool_calls }) => tool_calls !== undefined);
        expect(callers.filter(({ content }) => content)).toEqual([]);
      }),
      RUNS,
    );
  });

  it('ends with a question exactly when the last turn is one', () => {
    fc.assert(
      fc.property(anyList, anyOptions, (messages, options) => {
        const clean = cleanForWire(messages, { ...options, pendingCalls: 'answer' });
        const last = clean.filter(({ role }) => role !== 'system' && role !== 'developer').at(-1);
        expect(endsWithQuestion(clean)).toBe(last?.role === 'user' || last?.role === 'tool');
      }),
      RUNS,
    );
  });

  it('has no user message at its end that stands for an assistant message', () => {
    fc.assert(
      fc.property(anyList, anyOptions, (messages, options) => {
        const list = [...messages, { role: 'assistant', content: 'Done.' } as const];
        expect(cleanForWire(list, options).at(-1)?.role).not.toBe('user');
      }),
      RUNS,
    );
  });
});

describe('strict endpoints', () => {
  it('take every list that asks for an answer', () => {
    fc.assert(
      fc.property(askingList, anyOptions, (messages, options) => {
        const strict: WireOptions = {
          ...options,
          strictAlternation: true,
          singleSystem: true,
          pendingCalls: 'answer',
        };
        const clean = cleanForWire(messages, strict);
        expect(strictViolation(clean)).toBeNull();
        expect(endsWithQuestion(clean)).toBe(true);
      }),
      RUNS,
    );
  });

  it('take every list that leaves something to answer, whoever spoke in it', () => {
    fc.assert(
      fc.property(anyList, anyOptions, (messages, options) => {
        const clean = cleanForWire(messages, { ...options, ...STRICT_WIRE, pendingCalls: 'answer' });
        expect(strictViolation(clean)).toBe(
          endsWithQuestion(clean) ? null : 'the last message is neither user nor tool',
        );
      }),
      RUNS,
    );
  });

  it.each([{}, { ...STRICT_WIRE, singleSystem: false, shortCallIds: false }])(
    'get what they take already unchanged, message by message, with %j',
    (options) => {
      fc.assert(
        fc.property(strictConversation.map(withOwnIds), (messages) => {
          const clean = cleanForWire(messages, options);
          expect(JSON.stringify(clean)).toBe(JSON.stringify(messages));
          expect(clean.findIndex((message, i) => message !== messages[i])).toBe(-1);
        }),
      );
    },
  );

  it('get calls and results with the same ids: unique, 9 letters and digits', () => {
    fc.assert(
      fc.property(anyList, (messages) => {
        const clean = cleanForWire(messages, { shortCallIds: true });
        const called = clean.flatMap(({ tool_calls }) => (tool_calls ?? []).map(({ id }) => id ?? ''));
        const answered = clean.flatMap(({ tool_call_id }) => tool_call_id ?? []);
        expect(called.filter((id) => !/^[0-9A-Za-z]{9}$/.test(id))).toEqual([]);
        expect(new Set(called).size).toBe(called.length);
        expect([...answered].sort()).toEqual([...called].sort());
      }),
      RUNS,
    );
  });
});

/** The conversation with ids that no other call has: these begin anew in each run of calls. */
function withOwnIds(messages: readonly ChatMessage[]): ChatMessage[] {
  let run = 0;
  const own = (id: string | undefined) => `${id}-${run}`;
  return messages.map((message) => {
    if (message.role === 'tool') return { ...message, tool_call_id: own(message.tool_call_id ?? '') };
    if (!message.tool_calls) return message;
    run += 1;
    return { ...message, tool_calls: message.tool_calls.map((call) => ({ ...call, id: own(call.id) })) };
  });
}

function deepFreeze<Value>(value: Value): Value {
  if (typeof value === 'object' && value !== null) {
    Object.freeze(value);
    for (const member of Object.values(value)) deepFreeze(member);
  }
  return value;
}
