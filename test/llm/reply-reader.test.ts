import fc from 'fast-check';
import { expect, test } from 'vitest';
import { readErrorBody } from '../../src/llm/error-facts.js';
import { ReplyReader } from '../../src/llm/reply-reader.js';
import { delta, events, finish, okJson } from './harness.js';

/** What a text comes to when it is fed in pieces that end at these places. */
function read(text: string, contentType: string, cuts: readonly number[] = []) {
  const reader = new ReplyReader(contentType);
  const places = [...cuts.map((cut) => cut % (text.length + 1)), text.length].toSorted((a, b) => a - b);
  let from = 0;
  for (const place of places) {
    if (reader.isOver) break;
    reader.feed(text.slice(from, place));
    from = place;
  }
  return { end: reader.conclude('closed'), usage: reader.usage };
}

const contentTypes = fc.constantFrom('text/event-stream', 'application/json', '');
/** JSON in which the names that the reader looks at are frequent. */
const documents = fc.letrec((tie) => ({
  value: fc.oneof(
    { depthSize: 'small' },
    fc.constantFrom(null, 0, -1, 5, 1.5, '', 'stop', 'error', 'x', true, false),
    fc.array(tie('value'), { maxLength: 3 }),
    fc.dictionary(
      fc.constantFrom(
        'choices',
        'delta',
        'message',
        'content',
        'tool_calls',
        'function',
        'arguments',
        'name',
        'id',
        'index',
        'type',
        'text',
        'usage',
        'prompt_tokens',
        'error',
        'code',
        'finish_reason',
        'refusal',
        'detail',
        'metadata',
        'raw',
        '__proto__',
      ),
      tie('value'),
      { maxKeys: 4 },
    ),
  ),
})).value;

test('no document whatever makes the reader throw', () => {
  fc.assert(
    fc.property(fc.array(documents, { maxLength: 4 }), contentTypes, (list, contentType) => {
      const texts = list.map((document) => JSON.stringify(document));
      read(events(...texts), contentType);
      for (const text of texts) {
        read(text, contentType);
        readErrorBody(text);
      }
    }),
    { numRuns: 500 },
  );
});

test('no text whatever makes the reader throw', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), contentTypes, (text, contentType) => {
      read(text, contentType);
      readErrorBody(text);
    }),
  );
});

test('how a text is cut into pieces changes nothing', () => {
  const lineEnds = fc.constantFrom('\n', '\r\n', '\r');
  const bodies = fc.constantFrom(
    events(delta('Hel'), ': x', delta('lo 😀'), finish(), '[DONE]'),
    `: ping\n\nevent: message\n${events(delta('Hel'), delta('lo'))}`,
    events(delta('x'), '{"error":{"message":"no"}}'),
    events(delta('x'), 'junk'),
    'plain words\nand more\n',
    `\n\n${okJson('Hello')}`,
  );
  fc.assert(
    fc.property(
      bodies,
      lineEnds,
      contentTypes,
      fc.array(fc.nat(), { maxLength: 6 }),
      (body, lineEnd, type, cuts) => {
        const text = body.replaceAll('\n', lineEnd);
        expect(read(text, type, cuts)).toEqual(read(text, type));
      },
    ),
    { numRuns: 1_000 },
  );
});
