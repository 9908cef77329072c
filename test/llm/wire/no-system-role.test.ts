import { describe, expect, it } from 'vitest';
import { cleanForWire } from '../../../src/llm/wire/clean-for-wire.js';
import type { StoredMessage } from '../../../src/llm/wire/wire-message.js';
import { assistant, calls, result, system, user } from '../../support/messages.js';

type Row = [name: string, stored: StoredMessage[], sent: StoredMessage[]];

describe('without a system role', () => {
  it.each<Row>([
    [
      'system text goes in front of the first user message, wherever it stood',
      [system('s'), user('a'), assistant('b'), { role: 'developer', content: 't' }, user('c')],
      [user('s\n\nt\n\na'), assistant('b'), user('c')],
    ],
    [
      'it keeps the fields of the user message, and loses its own',
      [
        { ...system('s'), name: 'rules', cache: true },
        { ...user('a'), name: 'anna' },
      ],
      [{ ...user('s\n\na'), name: 'anna' }],
    ],
    [
      'it goes before pictures',
      [system('s'), { role: 'user', content: [{ type: 'image_url', image_url: {} }] }],
      [
        {
          role: 'user',
          content: [
            { type: 'text', text: 's' },
            { type: 'image_url', image_url: {} },
          ],
        },
      ],
    ],
    [
      'it becomes a user message before a greeting',
      [system('s'), assistant('Welcome aboard'), user('a')],
      [user('s'), assistant('Welcome aboard'), user('a')],
    ],
    [
      'it becomes a user message before calls',
      [system('s'), calls(['x']), result('x', '1')],
      [user('s'), calls(['x']), result('x', '1')],
    ],
    ['it makes no question of a list that is nothing else', [system('s')], [system('s')]],
    ['empty system messages leave no trace', [system(' '), user('a')], [user('a')]],
    ['nothing else changes', [user('a'), user('b')], [user('a'), user('b')]],
  ])('%s', (_, stored, sent) => {
    expect(cleanForWire(stored, { noSystemRole: true })).toEqual(sent);
  });

  it('turns alternate where they must', () => {
    const list = [system('s'), assistant('hi'), user('a'), user('b')];
    expect(cleanForWire(list, { noSystemRole: true, strictAlternation: true })).toEqual([
      user('s'),
      assistant('hi'),
      user('a\n\nb'),
    ]);
  });
});
