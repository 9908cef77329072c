import { describe, expect, it } from 'vitest';
import { cleanForWire } from '../../../src/llm/wire/clean-for-wire.js';
import type { StoredMessage, WireMessage } from '../../../src/llm/wire/wire-message.js';
import { assistant, calls, result, system, user } from '../../support/messages.js';

const text = (said: string) => ({ type: 'text', text: said });
const image = { type: 'image_url', image_url: { url: 'https://pictures.example/pier.png' } };

describe('string content', () => {
  it.each<[string, StoredMessage, StoredMessage]>([
    ['is made of text parts', { role: 'user', content: [text('a'), text(''), text('b')] }, user('a\nb')],
    ['is made of one part', { role: 'system', content: [{ ...text('a'), cache: true }] }, system('a')],
    [
      'is not made where there is a picture',
      { role: 'user', content: [text('a'), image] },
      { role: 'user', content: [text('a'), image] },
    ],
    ['fills what is left empty', { role: 'user', content: [text('')] }, user('(empty)')],
  ])('%s', (_, stored, sent) => {
    expect(cleanForWire([stored], { stringContent: true })).toEqual([sent]);
  });

  it('is not made unless asked', () => {
    const list: StoredMessage[] = [{ role: 'user', content: [text('a'), text('b')] }];
    expect(cleanForWire(list)).toEqual(list);
  });
});

describe('reasoning and names', () => {
  const list: StoredMessage[] = [
    { ...user('a'), name: 'anna' },
    {
      ...calls(['x']),
      reasoning_content: 'why',
      reasoning: 'why',
      reasoning_details: [{}],
      thinking: 'why',
      extra_content: { google: { thought_signature: 'c2ln' } },
    },
    { ...result('x', '1'), name: 'lookup' },
  ];

  it('are sent as they are', () => {
    expect(cleanForWire(list)).toEqual(list);
  });

  it('are dropped where asked, each by its own option', () => {
    const extra_content = { google: { thought_signature: 'c2ln' } };
    expect(cleanForWire(list, { stripReasoning: true })).toEqual([
      list[0],
      { ...calls(['x']), extra_content },
      list[2],
    ]);
    expect(cleanForWire(list, { dropName: true })).toEqual([user('a'), list[1], result('x', '1')]);
  });
});

describe('short call ids', () => {
  const idsOf = (messages: readonly WireMessage[]) =>
    messages.flatMap(({ tool_calls, tool_call_id }) => [
      ...(tool_calls ?? []).map(({ id }) => id),
      ...(tool_call_id === undefined ? [] : [tool_call_id]),
    ]);
  const short = (messages: readonly StoredMessage[]) => cleanForWire(messages, { shortCallIds: true });

  it('are the same for a call and its result, and the same every time', () => {
    const list = [user('a'), calls(['call_1', 'call_2']), result('call_2', '2'), result('call_1', '1')];
    expect(idsOf(short(list))).toEqual(['vXHE7pZtM', 'BxZyHRU11', 'BxZyHRU11', 'vXHE7pZtM']);
  });

  it('stay when they have the form, once', () => {
    const list = [calls(['Zz9Zz9Zz9']), result('Zz9Zz9Zz9', '1'), assistant('b'), calls(['Zz9Zz9Zz9'])];
    const [first, second, third, fourth] = idsOf(short(list));
    expect([first, second]).toEqual(['Zz9Zz9Zz9', 'Zz9Zz9Zz9']);
    expect(third).toMatch(/^[0-9A-Za-z]{9}$/);
    expect(third).not.toBe('Zz9Zz9Zz9');
    expect(fourth).toBe(third);
  });

  it('tell calls apart that had one id, or none', () => {
    const list = [
      calls(['', '']),
      result('', '1'),
      result('', '2'),
      assistant('b'),
      {
        role: 'assistant',
        content: null,
        tool_calls: [{ function: { name: 'f', arguments: '{}' } }],
      } as const,
      result('', '3'),
    ];
    const sent = short(list);
    const [a, b, resultA, resultB, c, resultC] = idsOf(sent);
    expect([resultA, resultB, resultC]).toEqual([a, b, c]);
    expect(new Set([a, b, c]).size).toBe(3);
    expect(sent.map(({ content }) => content)).toEqual([null, '1', '2', 'b', null, '3']);
  });

  it('are given anew when an earlier call took the id', () => {
    const taken = String(idsOf(short([calls(['call_1'])]))[0]);
    const [first, , second] = idsOf(short([calls(['call_1']), result('call_1', '1'), calls([taken])]));
    expect(first).toBe(taken);
    expect(second).not.toBe(taken);
  });

  it('take no longer for the last call with one id than for the first', { timeout: 5_000 }, () => {
    const list = Array.from({ length: 4_000 }, (_, i) => [calls(['call_0']), result('call_0', `${i}`)]);
    expect(new Set(idsOf(short(list.flat()))).size).toBe(4_000);
  });

  it('do not depend on what comes later', () => {
    const list = [user('a'), calls(['call_1']), result('call_1', '1'), assistant('b')];
    const longer = short([...list, user('c'), calls(['call_1', 'x']), result('x', '2')]);
    expect(longer.slice(0, list.length)).toEqual(short(list));
  });
});
