import { describe, expect, it } from 'vitest';
import { cleanForWire } from '../../../src/llm/wire/clean-for-wire.js';
import type { StoredMessage } from '../../../src/llm/wire/wire-message.js';
import { assistant, calls, result, system, user } from '../../support/messages.js';

const OPENING = user('(The conversation begins here.)');
const BRIDGE = assistant('Understood.');

type Row = [name: string, stored: StoredMessage[], sent: StoredMessage[]];

describe('strict alternation', () => {
  it.each<Row>([
    [
      'merges turns of one role with a blank line',
      [user('a'), user('b'), user('c'), assistant('d'), assistant('e'), user('f')],
      [user('a\n\nb\n\nc'), assistant('d\n\ne'), user('f')],
    ],
    [
      'merges words into the calls after them, and keeps steps of tool work apart',
      [user('a'), assistant('b'), calls(['x'], 'c'), result('x', '1'), calls(['y']), result('y', '2')],
      [user('a'), calls(['x'], 'b\n\nc'), result('x', '1'), calls(['y']), result('y', '2')],
    ],
    [
      'puts a word between a result and a user message',
      [user('a'), calls(['x']), result('x', '1'), user('b')],
      [user('a'), calls(['x']), result('x', '1'), BRIDGE, user('b')],
    ],
    [
      'puts a word behind a call that was never answered',
      [user('a'), calls(['x']), user('b')],
      [user('a'), calls(['x']), result('x', '(no result recorded)'), BRIDGE, user('b')],
    ],
    [
      'lets a user line go before a greeting',
      [system('s'), assistant('Welcome aboard'), user('a')],
      [system('s'), OPENING, assistant('Welcome aboard'), user('a')],
    ],
    [
      'keeps pictures when it merges, and what was said in order',
      [user('a'), { role: 'user', content: [{ type: 'image_url', image_url: {} }] }, user('b')],
      [
        {
          role: 'user',
          content: [
            { type: 'text', text: 'a' },
            { type: 'image_url', image_url: {} },
            { type: 'text', text: 'b' },
          ],
        },
      ],
    ],
    [
      'keeps the fields of both, those of the calls before those of the words',
      [
        user('a'),
        { ...assistant('b'), reasoning_content: 'first', first: 1 },
        { ...calls(['x']), reasoning_content: 'second' },
        result('x', '1'),
      ],
      [user('a'), { ...calls(['x'], 'b'), first: 1, reasoning_content: 'second' }, result('x', '1')],
    ],
    [
      'keeps a name that is the same, and drops names that differ',
      [
        { ...user('a'), name: 'anna' },
        { ...user('b'), name: 'anna' },
        assistant('c'),
        { ...user('d'), name: 'anna' },
        { ...user('e'), name: 'ben' },
      ],
      [{ ...user('a\n\nb'), name: 'anna' }, assistant('c'), user('d\n\ne')],
    ],
    ['adds no user message after an assistant', [user('a'), assistant('b')], [user('a'), assistant('b')]],
    ['adds no user message to system messages', [system('s')], [system('s')]],
    ['leaves nothing as nothing', [], []],
  ])('%s', (_, stored, sent) => {
    expect(cleanForWire(stored, { strictAlternation: true })).toEqual(sent);
  });

  it('is not done unless asked', () => {
    const list = [assistant('a'), assistant('b'), calls(['x']), result('x', '1'), user('c'), user('d')];
    expect(cleanForWire(list)).toEqual(list);
  });

  it('merges a long run in one go', { timeout: 5_000 }, () => {
    const run = Array.from({ length: 20_000 }, (_, i) => user(`${i} ${'word '.repeat(200)}end`));
    const [merged, ...others] = cleanForWire(run, { strictAlternation: true });
    expect(others).toEqual([]);
    expect(merged?.content).toBe(run.map(({ content }) => content).join('\n\n'));
  });
});

describe('a bridge', () => {
  it('goes between result and user message, and nothing else changes', () => {
    const list = [user('a'), user('b'), calls(['x']), result('x', '1'), user('c'), user('d')];
    expect(cleanForWire(list, { bridgeToolToUser: true })).toEqual(list.toSpliced(4, 0, BRIDGE));
  });
});

describe('a user line in front', () => {
  it.each<Row>([
    ['goes before an assistant', [assistant('a'), user('b')], [OPENING, assistant('a'), user('b')]],
    ['goes before calls', [calls(['x']), result('x', '1')], [OPENING, calls(['x']), result('x', '1')]],
    ['is not needed before a user', [system('s'), user('a')], [system('s'), user('a')]],
  ])('%s', (_, stored, sent) => {
    expect(cleanForWire(stored, { firstUser: true })).toEqual(sent);
  });
});

describe('a single system message', () => {
  it.each<Row>([
    [
      'is made of all of them',
      [system('s'), user('a'), system('t'), assistant('b'), { role: 'developer', content: 'u' }, user('c')],
      [system('s\n\nt\n\nu'), user('a'), assistant('b'), user('c')],
    ],
    ['comes first', [user('a'), system('s'), user('b')], [system('s'), user('a'), user('b')]],
    ['leaves out empty ones', [system(''), user('a'), system('s')], [system('s'), user('a')]],
    ['is none when all are empty', [system(''), user('a'), system(' ')], [user('a')]],
    [
      'leaves a call that the list ends with open',
      [user('a'), calls(['x']), system('s')],
      [system('s'), user('a'), calls(['x'])],
    ],
  ])('%s', (_, stored, sent) => {
    expect(cleanForWire(stored, { singleSystem: true, pendingCalls: 'keep' })).toEqual(sent);
  });

  it('keeps the role of the first', () => {
    const list: StoredMessage[] = [{ role: 'developer', content: 's' }, system('t'), user('a')];
    expect(cleanForWire(list, { singleSystem: true, keepDeveloper: true })).toEqual([
      { role: 'developer', content: 's\n\nt' },
      user('a'),
    ]);
  });
});
