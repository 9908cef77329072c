import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { memberName, topLevelParts } from '../../src/cli/json-slices.js';
import { chunkMessages, MAX_CHUNK_BYTES } from '../../src/cli/message-chunks.js';
import { readDocuments } from '../../src/cli/read-documents.js';
import { readLines } from '../../src/cli/read-lines.js';

async function* inPieces(bytes: Uint8Array, size: number) {
  for (let start = 0; start < bytes.length; start += size) yield bytes.subarray(start, start + size);
}

async function collect<T>(items: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = [];
  for await (const item of items) all.push(item);
  return all;
}

const documentsOf = (text: string, knownAsLines = false) =>
  collect(readDocuments(readLines(inPieces(Buffer.from(text), 7)), knownAsLines));

describe('lines', () => {
  it('are the same wherever the stream is cut', async () => {
    const bytes = Buffer.from('\ufeffçà\r\n\n€ 12 \u{1f6a2}\nend');
    for (let size = 1; size <= bytes.length; size += 1) {
      const lines = await collect(readLines(inPieces(bytes, size)));
      expect(lines.map(({ number, text }) => [number, text])).toEqual([
        [1, 'çà'],
        [2, ''],
        [3, '€ 12 \u{1f6a2}'],
        [4, 'end'],
      ]);
    }
  });

  it('that are not UTF-8 are a problem of their own', async () => {
    const bytes = Buffer.concat([
      Buffer.from('{}\n'),
      Buffer.from([0x22, 0xe9, 0x22, 0x0a]),
      Buffer.from('{}\n'),
    ]);
    expect(await collect(readLines(inPieces(bytes, 100)))).toEqual([
      { number: 1, text: '{}', problem: null },
      { number: 2, text: null, problem: 'is not UTF-8 text' },
      { number: 3, text: '{}', problem: null },
    ]);
  });
});

describe('documents', () => {
  it.each([
    ['one value on one line', '\n{"a":1}\n\n', [[2, '{"a":1}', true]]],
    ['one value on many lines', '{\n"a": [\r\n1]}\n', [[1, '{\n"a": [\n1]}', true]]],
    ['a list with commas in front', '[{"a":1}\n,{"b":2}\n]', [[1, '[{"a":1}\n,{"b":2}\n]', true]]],
    [
      'a value per line',
      '{"a":1}\n\n[]\n',
      [
        [1, '{"a":1}', false],
        [3, '[]', false],
      ],
    ],
    [
      'a first line cut off',
      '{"a":[1\n{"b":2}',
      [
        [1, '{"a":[1', false],
        [2, '{"b":2}', false],
      ],
    ],
    ['nothing', '\n \n', []],
  ])('%s', async (_, text, expected) => {
    const documents = await documentsOf(text);
    expect(documents.map(({ number, text, whole }) => [number, text, whole])).toEqual(expected);
  });

  it('are lines when the caller knows so', async () => {
    expect((await documentsOf('{\n{}', true)).map(({ text }) => text)).toEqual(['{', '{}']);
  });
});

describe('slices of JSON', () => {
  it('are the texts that were written', () => {
    fc.assert(
      fc.property(fc.array(fc.json()), fc.constantFrom('', ' ', '\n\t'), (texts, space) => {
        const list = `[${texts.map((text) => space + text + space).join(',')}]`;
        expect(topLevelParts(list)).toEqual(texts);
        const members = texts.map((text, index) => `"k${index},}\\u0041" : ${text}`);
        const parts = topLevelParts(`{${members.join(`,${space}`)}}`);
        expect(parts).toEqual(members);
        expect(parts.map(memberName)).toEqual(texts.map((_, index) => `k${index},}A`));
      }),
    );
  });
});

describe('chunks', () => {
  it('hold at most 1,000 messages and 8 MB, in order', () => {
    expect(chunkMessages([], 0)).toEqual([]);
    const small = Array.from({ length: 2_001 }, (_, index) => `"${index}"`);
    expect(chunkMessages(small, 0).map((chunk) => chunk.length)).toEqual([1_000, 1_000, 1]);
    expect(chunkMessages(small, 0).flat()).toEqual(small);
    const large = ['é'.repeat(2_000_000), 'é'.repeat(2_000_000), 'x'.repeat(MAX_CHUNK_BYTES), '1'];
    expect(chunkMessages(large, 0).map((chunk) => chunk.length)).toEqual([2, 1, 1]);
    expect(chunkMessages(large, 1_000_000).map((chunk) => chunk.length)).toEqual([1, 1, 1, 1]);
  });
});
