import { describe, expect, it } from 'vitest';
import { cleanForWire } from '../../../src/llm/wire/clean-for-wire.js';
import type { StoredMessage, WireContent } from '../../../src/llm/wire/wire-message.js';
import { assistant, calls, result, system, user } from '../../support/messages.js';

const text = (said: string) => ({ type: 'text', text: said });
const image = { type: 'image_url', image_url: { url: 'https://pictures.example/pier.png' } };

/** Content with nothing in it, in all its forms; undefined is a missing key. */
const nothing: readonly (WireContent | undefined)[] = [
  undefined,
  null,
  '',
  ' \n',
  [],
  [text(''), text('\t')],
];
const holding = (content: WireContent | undefined) => (content === undefined ? {} : { content });

describe('empty text parts', () => {
  it.each([
    [[text(''), text('ok')], [text('ok')]],
    [[text(' '), image], [image]],
    [[{ type: 'text' }, text('ok')], [text('ok')]],
    [
      [text('a'), { type: 'other', text: '' }],
      [text('a'), { type: 'other', text: '' }],
    ],
  ])('of %j are left out', (stored, sent) => {
    expect(cleanForWire([{ role: 'user', content: stored }])).toEqual([{ role: 'user', content: sent }]);
  });
});

describe('content with nothing in it:', () => {
  it.each(nothing)('%j of a user is "(empty)"', (content) => {
    expect(cleanForWire([{ role: 'user', ...holding(content) }])).toEqual([user('(empty)')]);
  });

  it.each(nothing)('%j of a tool result is "(empty)"', (content) => {
    const stored: StoredMessage = { role: 'tool', tool_call_id: 'c1', ...holding(content) };
    expect(cleanForWire([calls(['c1']), stored])).toEqual([calls(['c1']), result('c1', '(empty)')]);
  });

  it.each(nothing)('%j of a system message drops it', (content) => {
    expect(cleanForWire([{ role: 'system', ...holding(content) }, user('a')])).toEqual([user('a')]);
  });

  it.each(nothing)('%j beside calls is null, or "" where asked', (content) => {
    const { content: _, ...rest } = calls(['c1']);
    const list = [user('a'), { ...rest, ...holding(content) }, result('c1', 'r')];
    expect(cleanForWire(list)).toEqual([user('a'), calls(['c1']), result('c1', 'r')]);
    const [, sent] = cleanForWire(list, { emptyStringWithCalls: true });
    expect(sent).toEqual({ ...calls(['c1']), content: '' });
  });

  it('beside calls is sent when there is some', () => {
    const list = [user('a'), calls(['c1'], 'I will look.'), result('c1', 'r')];
    expect(cleanForWire(list, { emptyStringWithCalls: true })).toEqual(list);
  });
});

describe('an assistant message without words or calls', () => {
  const thought: StoredMessage = { role: 'assistant', content: '', reasoning_content: 'why' };

  it.each<[string, StoredMessage[], StoredMessage[]]>([
    ['first', [thought, user('a')], [user('a')]],
    ['last', [user('a'), thought], [user('a')]],
    [
      'before an assistant message',
      [user('a'), thought, assistant('b'), user('c')],
      [user('a'), assistant('b'), user('c')],
    ],
    [
      'after an assistant message',
      [user('a'), assistant('b'), thought, user('c')],
      [user('a'), assistant('b'), user('c')],
    ],
    [
      'before calls',
      [user('a'), thought, calls(['c1']), result('c1', 'r')],
      [user('a'), calls(['c1']), result('c1', 'r')],
    ],
    ['alone', [thought], []],
    [
      'between a call and its result',
      [user('a'), calls(['c1']), thought, result('c1', 'r')],
      [user('a'), calls(['c1']), result('c1', 'r')],
    ],
  ])('is dropped %s', (_, stored, sent) => {
    expect(cleanForWire(stored)).toEqual(sent);
  });

  it('is dropped without a trace: it fills no gap further on', () => {
    expect(cleanForWire([thought, user('a'), user('b')])).toEqual([user('a'), user('b')]);
  });

  it.each<[string, StoredMessage[], StoredMessage[]]>([
    [
      'two user messages, the first of several',
      [user('a'), thought, assistant(''), user('b')],
      [user('a'), { ...thought, content: '(empty)' }, user('b')],
    ],
    [
      'a tool result and a user message',
      [calls(['c1']), result('c1', 'r'), thought, user('b')],
      [calls(['c1']), result('c1', 'r'), { ...thought, content: '(empty)' }, user('b')],
    ],
    [
      'two user messages, beside a system message',
      [user('a'), thought, system('s'), user('b')],
      [user('a'), system('s'), { ...thought, content: '(empty)' }, user('b')],
    ],
  ])('is filled between %s', (_, stored, sent) => {
    expect(cleanForWire(stored)).toEqual(sent);
  });
});
