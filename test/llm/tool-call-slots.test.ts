import { expect, test } from 'vitest';
import { ToolCallSlots } from '../../src/llm/tool-call-slots.js';

const A = { id: 'a', name: 'look_up', arguments: '{"x":1}' };
const B = { id: 'b', name: 'store', arguments: '{"y":2}' };

/** Each inner list is the `tool_calls` list of one chunk. */
function stream(...chunks: readonly (readonly unknown[])[]) {
  const slots = new ToolCallSlots();
  for (const chunk of chunks) slots.addDeltas(chunk);
  return slots.calls();
}

const fn = (name: string | null, args?: unknown) => ({ function: { name, arguments: args } });

test('all fragments with index 0, told apart by their ids', () => {
  expect(
    stream(
      [{ index: 0, id: 'a', ...fn('look_up', '{"x"') }],
      [{ index: 0, ...fn(null, ':1}') }],
      [{ index: 0, id: 'b', ...fn('store', '{"y"') }],
      [{ index: 0, ...fn(null, ':2}') }],
    ),
  ).toEqual([A, B]);
});

test('no index: a fragment without an id continues the last call', () => {
  expect(
    stream(
      [{ id: 'a', ...fn('look_up', '{"x"') }],
      [fn(null, ':1}')],
      [{ id: 'b', index: null, ...fn('store', '') }],
      [{ index: null, ...fn(null, '{"y":2}') }],
    ),
  ).toEqual([A, B]);
});

test('right indexes, interleaved fragments without ids', () => {
  expect(
    stream(
      [{ index: 0, id: 'a', ...fn('look_up', '') }],
      [{ index: 1, id: 'b', ...fn('store', '') }],
      [
        { index: 0, ...fn(null, '{"x"') },
        { index: 1, ...fn(null, '{"y"') },
      ],
      [
        { index: 1, ...fn(null, ':2}') },
        { index: 0, ...fn(null, ':1}') },
      ],
    ),
  ).toEqual([A, B]);
});

test('the id in the first fragment only, the name null or repeated later', () => {
  expect(
    stream(
      [{ index: 0, id: 'a', ...fn('look_up', '{"x"') }],
      [{ index: 0, id: '', ...fn(null, ':') }],
      [{ index: 0, id: null, ...fn('look_up', '1}') }],
      [{ index: 1, id: 'b', ...fn('store', '{"y":2}') }],
    ),
  ).toEqual([A, B]);
});

test('the id in every fragment', () => {
  expect(stream([{ id: 'a', ...fn('look_up', '{"x"') }], [{ id: 'a', ...fn('look_up', ':1}') }])).toEqual([
    A,
  ]);
});

test('an id that arrives after the first fragment', () => {
  expect(
    stream([{ index: 0, ...fn('look_up', '') }], [{ index: 0, id: 'a', ...fn(null, '{"x":1}') }]),
  ).toEqual([A]);
});

test('whole calls in one list, in one chunk', () => {
  expect(
    stream([
      { id: 'a', ...fn('look_up', '{"x":1}') },
      { id: 'b', ...fn('store', '{"y":2}') },
    ]),
  ).toEqual([A, B]);
});

test('the same id twice with different indexes is two calls', () => {
  const calls = stream([{ index: 0, id: 'a', ...fn('f', '{}') }], [{ index: 1, id: 'a', ...fn('f', '{}') }]);
  expect(calls).toHaveLength(2);
});

test('whole calls of the same function without id and index, in one chunk and in two', () => {
  const args = [
    { name: 'f', arguments: '{"n":1}' },
    { name: 'f', arguments: '{"n":2}' },
  ];
  const one = stream(args.map((call) => ({ function: call })));
  const two = stream(...args.map((call) => [{ function: call }]));
  for (const calls of [one, two]) {
    expect(calls).toMatchObject(args);
    expect(calls[0]?.id).toMatch(/^call_[0-9a-f]{24}$/);
    expect(calls[0]?.id).not.toBe(calls[1]?.id);
  }
});

test('another name at the same index without an id begins another call', () => {
  expect(stream([{ index: 0, ...fn('f', '{}') }], [{ index: 0, ...fn('g', '{}') }])).toMatchObject([
    { name: 'f' },
    { name: 'g' },
  ]);
});

test.each([
  ['an object', { x: 1 }, '{"x":1}'],
  ['encoded twice', '"{\\"x\\":1}"', '{"x":1}'],
  ['empty', '', '{}'],
  ['missing', undefined, '{}'],
  ['null', null, '{}'],
  ['not JSON', '{"x":', '{"x":'],
  ['a JSON string that holds no object', '"plain"', '"plain"'],
])('arguments that are %s', (_name, given, expected) => {
  expect(stream([{ index: 0, id: 'a', ...fn('f', given) }])).toEqual([
    { id: 'a', name: 'f', arguments: expected },
  ]);
});

test.each([
  [[null]],
  [[5]],
  [['x']],
  [[{}]],
  [[{ function: null }]],
  [[{ index: 'x', id: 7, function: [] }]],
])('a list of %j is no call', (list) => {
  expect(stream(list)).toEqual([]);
});

test('the entries of a complete message are one call each, even with equal ids', () => {
  const slots = new ToolCallSlots();
  slots.addWhole([
    { id: 'a', ...fn('f', '{"n":1}') },
    { id: 'a', ...fn('f', '{"n":2}') },
  ]);
  expect(slots.calls()).toEqual([
    { id: 'a', name: 'f', arguments: '{"n":1}' },
    { id: 'a', name: 'f', arguments: '{"n":2}' },
  ]);
});
