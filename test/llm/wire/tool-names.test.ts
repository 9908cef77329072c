import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { cleanForWire } from '../../../src/llm/wire/clean-for-wire.js';
import { wireToolNames } from '../../../src/llm/wire/tool-names.js';
import type { StoredMessage } from '../../../src/llm/wire/wire-message.js';
import { calls, result, user } from '../../support/messages.js';

const PORTABLE = /^[a-zA-Z0-9_-]{1,64}$/;
const { toWire } = wireToolNames([]);

describe('names of tools', () => {
  const anyName = fc.oneof(
    fc.string({ maxLength: 80, unit: 'grapheme' }),
    fc.constantFrom('files.read', 'files/read', 'files_read', toWire('files.read'), toWire('files/read')),
  );

  it('are sent in a form that servers take, no two alike, and come back', () => {
    fc.assert(
      fc.property(fc.uniqueArray(anyName, { maxLength: 12 }), (names) => {
        const tools = wireToolNames(names);
        const sent = names.map(tools.toWire);
        expect(sent.filter((name) => !PORTABLE.test(name))).toEqual([]);
        expect(new Set(sent).size).toBe(names.length);
        expect(sent.map(tools.fromWire)).toEqual(names);
        expect(sent.map(tools.toWire)).toEqual(sent);
        expect(names.map(wireToolNames(names).toWire)).toEqual(sent);
      }),
    );
  });

  it.each([
    ['look_up', 'look_up'],
    ['files.read', 'files_read_'],
    ['', '__'],
    ['2fa', '_2fa_'],
    ['x'.repeat(64), 'x'.repeat(64)],
    ['x'.repeat(65), `${'x'.repeat(50)}_`],
    ['Wetter für Köln', 'Wetter_f_r_K_ln_'],
  ])('%j is sent as %j and a hash', (name, wire) => {
    expect(toWire(name).startsWith(wire)).toBe(true);
    expect(toWire(name)).toMatch(PORTABLE);
  });

  it('give way to a tool that has the name already', () => {
    const tools = wireToolNames(['files.read', toWire('files.read')]);
    expect(tools.toWire('files.read')).not.toBe(toWire('files.read'));
    expect(tools.fromWire(toWire('files.read'))).toBe(toWire('files.read'));
    expect(tools.fromWire(tools.toWire('files.read'))).toBe('files.read');
  });

  it('that no tool has are given back as they are', () => {
    expect(wireToolNames(['look_up']).fromWire('made_up')).toBe('made_up');
  });
});

describe('names of functions in messages', () => {
  const named = (...names: (string | undefined)[]): StoredMessage => ({
    role: 'assistant',
    content: null,
    tool_calls: names.map((name, i) => ({
      id: `c${i}`,
      type: 'function',
      function: { ...(name === undefined ? {} : { name }), arguments: '{}' },
    })),
  });
  const list = [
    { ...user('a'), name: 'Anna B' },
    named('files.read', 'look_up'),
    { ...result('c0', '1'), name: 'files.read' },
    result('c1', '2'),
  ];

  it('stay unless asked', () => {
    expect(cleanForWire(list)).toEqual(list);
  });

  it('become those of the tools that are sent along', () => {
    const toolNames = wireToolNames(['files.read', toWire('files.read')]);
    const wire = toolNames.toWire('files.read');
    expect(cleanForWire(list, { portableNames: true, toolNames })).toEqual([
      list[0],
      named(wire, 'look_up'),
      { ...result('c0', '1'), name: wire },
      list[3],
    ]);
  });

  it('become what the name alone gives, for tools that are there no more', () => {
    expect(cleanForWire(list, { portableNames: true })[1]).toEqual(named(toWire('files.read'), 'look_up'));
  });

  it('are made up for calls without one', () => {
    const [sent] = cleanForWire([named(undefined)], { portableNames: true });
    expect(sent?.tool_calls?.[0]?.function?.name).toBe(toWire(''));
  });

  it('are given to results where asked, even where other names go', () => {
    const { name: _, ...speaker } = { ...user('a'), name: 'Anna B' };
    expect(cleanForWire(list, { resultNames: true, dropName: true })).toEqual([
      speaker,
      list[1],
      list[2],
      { ...result('c1', '2'), name: 'look_up' },
    ]);
  });

  it('are given to results as they are sent, in place of others', () => {
    const sent = cleanForWire(
      [named('files.read', ''), { ...result('c0', '1'), name: 'read' }, result('c1', '2')],
      {
        resultNames: true,
        portableNames: true,
      },
    );
    expect(sent.slice(1).map(({ name }) => name)).toEqual([toWire('files.read'), toWire('')]);
  });

  it('are not given to results of calls without one', () => {
    const stored = [calls([]), named(undefined), result('c0', '1')];
    expect(cleanForWire(stored, { resultNames: true }).at(-1)).toEqual(result('c0', '1'));
  });
});
