import { describe, expect, it } from 'vitest';
import { cleanForWire } from '../../../src/llm/wire/clean-for-wire.js';
import type { StoredMessage } from '../../../src/llm/wire/wire-message.js';
import { assistant, calls, result, system, user } from '../../support/messages.js';

/** The id that a call `x` gets when one before it has taken `x`. */
const X2 = 'UxJN1fE4G';
/** The ids that the first two calls without one get. */
const EMPTY_1 = 'yyeHJtzNX';
const EMPTY_2 = 'HCGteRCu6';
const NONE = '(no result recorded)';

type Row = [name: string, stored: StoredMessage[], sent: StoredMessage[]];

describe('results', () => {
  it.each<Row>([
    [
      'keep their order within a run',
      [user('a'), calls(['x', 'y']), result('y', '2'), result('x', '1')],
      [user('a'), calls(['x', 'y']), result('y', '2'), result('x', '1')],
    ],
    [
      'without a call are dropped, before and within a conversation',
      [
        result('c0', 'o'),
        user('a'),
        calls(['c1']),
        result('c1', 'r'),
        result('cX', 'o'),
        assistant('b'),
        user('c'),
      ],
      [user('a'), calls(['c1']), result('c1', 'r'), assistant('b'), user('c')],
    ],
    [
      'that are the second for a call are dropped, near and far',
      [
        user('a'),
        calls(['x']),
        result('x', '1'),
        result('x', '2'),
        assistant('b'),
        result('x', '3'),
        user('c'),
      ],
      [user('a'), calls(['x']), result('x', '1'), assistant('b'), user('c')],
    ],
    [
      'that come late move to their call, behind those that were in time',
      [
        user('a'),
        calls(['x', 'y']),
        result('y', '2'),
        user('b'),
        assistant('c'),
        result('x', '1'),
        user('d'),
      ],
      [
        user('a'),
        calls(['x', 'y']),
        result('y', '2'),
        result('x', '1'),
        user('b'),
        assistant('c'),
        user('d'),
      ],
    ],
    [
      'that come late within the run of another call move to their own',
      [user('a'), calls(['x']), calls(['y']), result('x', '1'), result('y', '2')],
      [user('a'), calls(['x']), result('x', '1'), calls(['y']), result('y', '2')],
    ],
    [
      'move over a system message',
      [user('a'), calls(['x']), system('s'), result('x', '1')],
      [user('a'), calls(['x']), result('x', '1'), system('s')],
    ],
    [
      'never move to a call after them',
      [user('a'), result('x', '1'), calls(['x'])],
      [user('a'), calls(['x']), result('x', NONE)],
    ],
    [
      'answer the nearest of several calls with one id',
      [user('a'), calls(['x']), user('b'), calls(['x']), result('x', '1'), result('x', '2')],
      [user('a'), calls(['x']), result('x', NONE), user('b'), calls([X2]), result(X2, '1')],
    ],
    [
      'answer one each of the calls of one message that share an id',
      [user('a'), calls(['x', 'x']), result('x', '1'), result('x', '2'), result('x', '3')],
      [user('a'), calls(['x', X2]), result('x', '1'), result(X2, '2')],
    ],
    [
      'answer one each of the calls of one step that share an id, in their order',
      [user('a'), calls(['x']), calls(['x']), result('x', '1'), result('x', '2'), result('x', '3')],
      [user('a'), calls(['x']), result('x', '1'), calls([X2]), result(X2, '2')],
    ],
    [
      'answer one each of the calls of one step that have no id',
      [user('a'), calls(['']), calls(['']), result('', '1'), result('', '2')],
      [user('a'), calls([EMPTY_1]), result(EMPTY_1, '1'), calls([EMPTY_2]), result(EMPTY_2, '2')],
    ],
    [
      'leave the first of a step open when there are too few',
      [user('a'), calls(['x']), calls(['x']), result('x', '1')],
      [user('a'), calls(['x']), result('x', NONE), calls([X2]), result(X2, '1')],
    ],
    [
      'are kept apart by their ids when turns count from the start',
      [user('a'), calls(['x']), result('x', '1'), assistant('b'), user('c'), calls(['x']), result('x', '2')],
      [user('a'), calls(['x']), result('x', '1'), assistant('b'), user('c'), calls([X2]), result(X2, '2')],
    ],
    [
      'do not answer a call that a user message claims to make',
      [{ ...calls(['x']), role: 'user', content: 'a' }, result('x', '1')],
      [user('a')],
    ],
  ])('%s', (_, stored, sent) => {
    expect(cleanForWire(stored)).toEqual(sent);
  });
});
