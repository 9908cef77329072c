import { describe, expect, it } from 'vitest';
import { cleanForWire } from '../../../src/llm/wire/clean-for-wire.js';
import type { StoredMessage } from '../../../src/llm/wire/wire-message.js';
import { assistant, calls, result, system, user } from '../../support/messages.js';

const ARRIVED =
  '[The result of an earlier tool call has come in. It stands in its place, directly after that call.]';
const UNASKED = '[Tool result that answers no open call:]';

type Row = [name: string, stored: StoredMessage[], sent: StoredMessage[]];

describe('results at the end, none of which stays there', () => {
  const asked = [user('a'), calls(['x']), result('x', '1'), assistant('b')];

  it.each<Row>([
    [
      'are announced when they moved',
      [user('a'), calls(['x', 'y']), user('b'), assistant('c'), result('x', '1'), result('y', '2')],
      [
        user('a'),
        calls(['x', 'y']),
        result('x', '1'),
        result('y', '2'),
        user('b'),
        assistant('c'),
        user(ARRIVED),
      ],
    ],
    [
      'are quoted when they answer no call',
      [...asked, result('o', 'lost'), result('x', 'again')],
      [...asked, user(`${UNASKED}\n\nlost\n\n${UNASKED}\n\nagain`)],
    ],
    [
      'are quoted with their pictures',
      [...asked, { role: 'tool', tool_call_id: 'o', content: [{ type: 'image_url', image_url: {} }] }],
      [
        ...asked,
        {
          role: 'user',
          content: [
            { type: 'text', text: UNASKED },
            { type: 'image_url', image_url: {} },
          ],
        },
      ],
    ],
    ['are dropped when a user message is last without them', [user('a'), result('o', 'lost')], [user('a')]],
    [
      'are dropped when an answered call is last without them',
      [...asked.slice(0, 3), result('o', 'lost')],
      asked.slice(0, 3),
    ],
    [
      'are dropped when only empty words would hide that',
      [user('a'), assistant(''), result('o', 'lost')],
      [user('a')],
    ],
    [
      'are quoted when only system messages and empty words follow',
      [...asked, result('o', 'lost'), system('s'), assistant('')],
      [...asked, system('s'), user(`${UNASKED}\n\nlost`)],
    ],
    [
      'are dropped when words follow',
      [...asked, result('o', 'lost'), assistant('c')],
      [...asked, assistant('c')],
    ],
    ['are dropped when nothing else was said', [result('o', 'lost')], []],
  ])('%s', (_, stored, sent) => {
    expect(cleanForWire(stored)).toEqual(sent);
  });
});
