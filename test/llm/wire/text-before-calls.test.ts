import { describe, expect, it } from 'vitest';
import { cleanForWire } from '../../../src/llm/wire/clean-for-wire.js';
import type { WireOptions } from '../../../src/llm/wire/options.js';
import type { StoredMessage } from '../../../src/llm/wire/wire-message.js';
import { assistant, calls, result, user } from '../../support/messages.js';
import { strictViolation } from '../../support/strict.js';

const ONWARDS = user('(The work goes on.)');
const list = [user('a'), calls(['x'], 'b'), result('x', '1'), calls(['y'], 'c'), result('y', '2')];

describe('words beside calls', () => {
  it.each<[string, WireOptions, StoredMessage[]]>([
    ['stay unless asked', {}, list],
    [
      'become a message before the calls',
      { textBeforeCalls: true },
      [
        user('a'),
        assistant('b'),
        calls(['x']),
        result('x', '1'),
        assistant('c'),
        calls(['y']),
        result('y', '2'),
      ],
    ],
    [
      'leave the empty text that is asked for',
      { textBeforeCalls: true, emptyStringWithCalls: true },
      [
        user('a'),
        assistant('b'),
        calls(['x'], ''),
        result('x', '1'),
        assistant('c'),
        calls(['y'], ''),
        result('y', '2'),
      ],
    ],
    [
      'are a turn where turns alternate',
      { textBeforeCalls: true, strictAlternation: true },
      [
        user('a'),
        assistant('b'),
        ONWARDS,
        calls(['x']),
        result('x', '1'),
        assistant('c'),
        ONWARDS,
        calls(['y']),
        result('y', '2'),
      ],
    ],
  ])('%s', (_, options, sent) => {
    const clean = cleanForWire(list, options);
    expect(clean).toEqual(sent);
    if (options.strictAlternation) expect(strictViolation(clean)).toBeNull();
  });

  it('leave reasoning and provider fields with the calls', () => {
    const own = { reasoning_content: 'why', extra_content: { google: {} } };
    const stored = [user('a'), { ...calls(['x'], 'b'), ...own }, result('x', '1')];
    expect(cleanForWire(stored, { textBeforeCalls: true })).toEqual([
      user('a'),
      assistant('b'),
      { ...calls(['x']), ...own },
      result('x', '1'),
    ]);
  });
});
