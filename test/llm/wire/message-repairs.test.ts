import { describe, expect, it } from 'vitest';
import { cleanForWire } from '../../../src/llm/wire/clean-for-wire.js';
import type { WireOptions } from '../../../src/llm/wire/options.js';
import type { StoredMessage } from '../../../src/llm/wire/wire-message.js';
import { result, user } from '../../support/messages.js';

const clean = (message: StoredMessage, options?: WireOptions) => cleanForWire([message], options);

function called(args: unknown) {
  const call = { id: 'c1', type: 'function', function: { name: 'read', arguments: args }, extra: 1 };
  const message: StoredMessage = { role: 'assistant', content: null, tool_calls: [call] };
  return cleanForWire([message, result('c1', 'r')])[0]?.tool_calls?.[0];
}

describe('the developer role', () => {
  const developer: StoredMessage = { role: 'developer', content: 'Be terse.', name: 'rules' };

  it('is sent as system', () => {
    expect(clean(developer)).toEqual([{ role: 'system', content: 'Be terse.', name: 'rules' }]);
  });

  it('stays where the endpoint knows it', () => {
    expect(clean(developer, { keepDeveloper: true })).toEqual([developer]);
  });
});

describe('call arguments', () => {
  it.each([
    '{}',
    ' {"a": 1.0} ',
    '{"id":2512292042121000001}',
    '{"a":1,"a":2}',
    '{"text":"\\uD83D\\ude00"}',
    '{"text":"\\\\ud83d is an escape"}',
    '{"text":"\\u00d8\\ud7ff\\ue000"}',
  ])('%j stay as they are', (text) => {
    expect(called(text)?.function?.arguments).toBe(text);
  });

  it.each([
    ['{"a":"\\ud800"}', '{"a":"\\ufffd"}'],
    ['{"a":"\\uDE00 \\uD83D"}', '{"a":"\\ufffd \\ufffd"}'],
    ['{"a":"\\ud83d\\ud83d\\ude00\\ude00"}', '{"a":"\\ufffd\\ud83d\\ude00\\ufffd"}'],
    ['{"a":"\\\\\\ud83d"}', '{"a":"\\\\\\ufffd"}'],
    ['{"a":"\\ud83d\\n\\ude00"}', '{"a":"\\ufffd\\n\\ufffd"}'],
    ['{"\\ud83d":1, "id":2512292042121000001}', '{"\\ufffd":1, "id":2512292042121000001}'],
  ])('%j have no escape of half a surrogate pair: %j', (text, sent) => {
    expect(called(text)?.function?.arguments).toBe(sent);
  });

  it.each([
    [JSON.stringify('{"a":1}'), '{"a":1}'],
    [JSON.stringify('{"id":2512292042121000001}'), '{"id":2512292042121000001}'],
    [` ${JSON.stringify('{"a":"\\ud83d"}')} `, '{"a":"\\ufffd"}'],
    ['"{\\"a\\":\\"\\ud83d\\"}"', '{"a":"\ufffd"}'],
    [JSON.stringify(JSON.stringify('{"a":1}')), '{}'],
    [JSON.stringify('{"a'), '{}'],
    [JSON.stringify('[1]'), '{}'],
  ])('%j, encoded twice, are unwrapped: %j', (text, sent) => {
    expect(called(text)?.function?.arguments).toBe(sent);
  });

  it.each(['{"path":"a', '', '[]', 'null', '"{}"', '7', '{} {}', [1], null, undefined, 7, true])(
    '%j become an empty object',
    (broken) => {
      expect(called(broken)?.function?.arguments).toBe('{}');
    },
  );

  it('that are an object are written as JSON', () => {
    expect(called({ to: 'Oslo', n: [1] })?.function?.arguments).toBe('{"to":"Oslo","n":[1]}');
  });

  it('that are right stay as they are beside broken ones', () => {
    const texts = ['{"id":2512292042121000001}', '{"path":"a'];
    const [message] = clean({
      role: 'assistant',
      tool_calls: texts.map((text) => ({ id: text, function: { name: 'read', arguments: text } })),
    });
    expect(message?.tool_calls?.map((call) => call.function?.arguments)).toEqual([texts[0], '{}']);
  });

  it('are all that changes in their call', () => {
    expect(JSON.stringify(called('{'))).toBe(
      '{"id":"c1","type":"function","function":{"name":"read","arguments":"{}"},"extra":1}',
    );
  });
});

describe('the type of a call', () => {
  it.each([
    [{ id: 'c1', function: { name: 'read', arguments: '{}' } }, 'function'],
    [{ id: 'c1', type: 'function', function: { name: 'read', arguments: '{}' } }, 'function'],
    [{ id: 'c1', type: 'custom', custom: { name: 'run', input: 'ls' } }, 'custom'],
    [{ id: 'c1' }, undefined],
  ])('of %j is %s', (call, type) => {
    const [message] = clean({ role: 'assistant', content: null, tool_calls: [call] });
    expect(message?.tool_calls).toEqual([type === undefined ? call : { ...call, type }]);
  });
});

describe('fields that say nothing', () => {
  it.each<[string, StoredMessage, StoredMessage]>([
    [
      'calls that are none',
      { role: 'assistant', content: 'hi', tool_calls: [] },
      { role: 'assistant', content: 'hi' },
    ],
    [
      'nulls',
      { role: 'assistant', content: 'hi', tool_calls: null, name: null, refusal: null, tool_call_id: null },
      { role: 'assistant', content: 'hi' },
    ],
    ['a name that is empty', { role: 'user', content: 'hi', name: '' }, user('hi')],
    ['calls of a user', { role: 'user', content: 'hi', tool_calls: [{ id: 'c1' }] }, user('hi')],
    ['the call id of a user', { role: 'user', content: 'hi', tool_call_id: 'c1' }, user('hi')],
  ])('%s are not sent', (_, stored, sent) => {
    expect(clean(stored)).toEqual([sent]);
    expect(Object.keys(clean(stored)[0] ?? {})).toEqual(Object.keys(sent));
  });

  it('are told from unknown ones, which are sent as they are', () => {
    const message = { role: 'user', content: 'hi', annotations: [], function_call: null, vendor: { a: '' } };
    expect(clean({ ...message, role: 'user' })).toEqual([message]);
  });
});

describe('a refusal', () => {
  it.each<[StoredMessage, StoredMessage]>([
    [
      { role: 'assistant', content: null, refusal: 'I will not.' },
      { role: 'assistant', content: 'I will not.' },
    ],
    [
      { role: 'assistant', content: 'Well.', refusal: 'I will not.' },
      { role: 'assistant', content: 'Well.\n\nI will not.' },
    ],
    [
      { role: 'assistant', content: [{ type: 'text', text: 'Well.' }], refusal: 'No.' },
      {
        role: 'assistant',
        content: [
          { type: 'text', text: 'Well.' },
          { type: 'text', text: 'No.' },
        ],
      },
    ],
    [
      { role: 'assistant', content: 'Well.', refusal: '' },
      { role: 'assistant', content: 'Well.' },
    ],
  ])('%j is said in the content', (stored, sent) => {
    expect(clean(stored)).toEqual([sent]);
    expect(Object.keys(clean(stored)[0] ?? {})).toEqual(['role', 'content']);
  });
});
