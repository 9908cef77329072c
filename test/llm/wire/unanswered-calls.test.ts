import { describe, expect, it } from 'vitest';
import { cleanForWire } from '../../../src/llm/wire/clean-for-wire.js';
import type { StoredMessage } from '../../../src/llm/wire/wire-message.js';
import { assistant, calls, result, user } from '../../support/messages.js';

const NONE = '(no result recorded)';

type Row = [name: string, stored: StoredMessage[], sent: StoredMessage[]];

describe('calls without a result', () => {
  it.each<Row>([
    [
      'get one, in their order, behind the results that there are',
      [user('a'), calls(['x', 'y', 'z']), result('y', '2'), user('b')],
      [user('a'), calls(['x', 'y', 'z']), result('y', '2'), result('x', NONE), result('z', NONE), user('b')],
    ],
    [
      'get one at the end of the list',
      [user('a'), calls(['x'])],
      [user('a'), calls(['x']), result('x', NONE)],
    ],
    [
      'get one for each that shares an id',
      [user('a'), calls(['x', 'x']), result('x', '1')],
      [user('a'), calls(['x', 'UxJN1fE4G']), result('x', '1'), result('UxJN1fE4G', NONE)],
    ],
    [
      'get one and an id when they have none',
      [user('a'), { role: 'assistant', content: null, tool_calls: [{ type: 'function' }] }],
      [
        user('a'),
        { role: 'assistant', content: null, tool_calls: [{ id: 'yyeHJtzNX', type: 'function' }] },
        result('yyeHJtzNX', NONE),
      ],
    ],
  ])('%s', (_, stored, sent) => {
    expect(cleanForWire(stored)).toEqual(sent);
  });

  it.each<Row>([
    ['alone', [user('a'), calls(['x'])], [user('a'), calls(['x'])]],
    [
      'with some of their results',
      [user('a'), calls(['x', 'y']), result('y', '2')],
      [user('a'), calls(['x', 'y']), result('y', '2')],
    ],
    [
      'before messages that are not sent',
      [user('a'), calls(['x']), result('o', 'lost'), assistant('')],
      [user('a'), calls(['x'])],
    ],
    [
      'and only those',
      [user('a'), calls(['x']), user('b'), calls(['y'])],
      [user('a'), calls(['x']), result('x', NONE), user('b'), calls(['y'])],
    ],
  ])('stay open at the end where their results are awaited: %s', (_, stored, sent) => {
    expect(cleanForWire(stored, { pendingCalls: 'keep' })).toEqual(sent);
  });

  it('get one although results are awaited, when the list goes on', () => {
    const list = [user('a'), calls(['x']), user('b')];
    expect(cleanForWire(list, { pendingCalls: 'keep' })).toEqual([
      user('a'),
      calls(['x']),
      result('x', NONE),
      user('b'),
    ]);
  });
});
