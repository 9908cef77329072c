import { expect, it } from 'vitest';
import { importArguments, UsageError } from '../../src/cli/import-arguments.js';

it('takes a file, and the address of a service', () => {
  expect(importArguments(['a.json'])).toEqual({ file: 'a.json', url: null });
  expect(importArguments(['--url', 'https://host/compactd', '-'])).toEqual({
    file: '-',
    url: new URL('https://host/compactd'),
  });
  expect(importArguments(['--help'])).toBe('help');
});

it.each([[[]], [['']], [['a', 'b']], [['a', '--to', 'b']], [['a', '--url']], [['a', '--url', 'host:5050']]])(
  'refuses %j',
  (args) => {
    expect(() => importArguments(args)).toThrow(UsageError);
  },
);
