import fc from 'fast-check';
import { expect, test } from 'vitest';
import { createCleaner, stripTags } from '../../src/llm/redact.js';
import { createReplyRedactor } from '../../src/llm/reply-secrets.js';
import { endpoint } from './harness.js';

const clean = createCleaner(['secret/key+1']);

test.each([
  ['bad key secret/key+1!', 'bad key [REDACTED]!'],
  ['Authorization: Bearer abc.def', 'Authorization: [REDACTED]'],
  ['Incorrect API key provided: sk-proj-ab***********yz.', 'Incorrect API key provided: [REDACTED]'],
  ['gsk_abcdefghijkl is invalid', '[REDACTED] is invalid'],
  ['one\r\n\ttwo\u0000  three', 'one two three'],
  [
    '<html><head><title>x</title></head><body><h1>502</h1><p>Bad&nbsp;gateway &lt;3</p></body></html>',
    '502 Bad gateway <3',
  ],
  ['must be <= 4096 and not <|im_start|>', 'must be <= 4096 and not <|im_start|>'],
  ['lone \ud83d half', 'lone \ufffd half'],
])('%j is shown as %j', (text, expected) => {
  expect(clean(text)).toBe(expected);
});

const KEY = 'vendor key/with+odd "chars" 123';
const encoded = (text: string) => Buffer.from(text).toString('base64');

test.each([
  ['as it is', KEY],
  ['in JSON', JSON.stringify({ key: KEY })],
  ['percent-encoded', encodeURIComponent(KEY)],
  ['percent-encoded in lower case', encodeURIComponent(KEY).replace(/%../g, (code) => code.toLowerCase())],
  ['in hex', Buffer.from(KEY).toString('hex')],
  ['in hex, in upper case', Buffer.from(KEY).toString('hex').toUpperCase()],
  ['in upper case', KEY.toUpperCase()],
  ['in a form', new URLSearchParams({ key: KEY }).toString()],
  ['in base64', encoded(KEY)],
  ['in base64url', Buffer.from(KEY).toString('base64url')],
  ['in base64 behind one char', encoded(`:${KEY}`)],
  ['in base64 behind a user', encoded(`us:${KEY}`)],
  ['in base64 as a header', encoded(`Bearer ${KEY}\r\n`)],
])('a key that comes back %s is not shown', (_name, echo) => {
  const line = createCleaner([KEY])(`You sent ${echo}, which is wrong`);
  expect(line).toContain('[REDACTED]');
  expect(line).toMatch(/^You sent .*, which is wrong$/);
  // What is left of it are single chars at the ends, which also hold bits of what stands beside it.
  expect(line.length).toBeLessThan(60);
});

test('a key below eight chars hides nothing, and one of eight itself', () => {
  expect(createCleaner(['sk-none', 'changeme'])('sk-none changeme, change')).toBe(
    'sk-none [REDACTED], change',
  );
});

test('a reply that gives the key back holds it in no part that is read', () => {
  const redact = createReplyRedactor(endpoint('http://h', { apiKey: KEY }));
  const echo = `a ${KEY} b ${encoded(KEY)} c`;
  const outcome = redact({
    kind: 'ok',
    text: echo,
    finishReason: 'stop',
    refusal: echo,
    toolCalls: [{ id: 'x', name: 'f', arguments: JSON.stringify({ key: KEY }) }],
    model: null,
  });
  expect(outcome).toMatchObject({
    text: expect.stringMatching(/^a \[REDACTED\] b \[REDACTED\]\S{0,3} c$/),
    refusal: expect.stringMatching(/^a \[REDACTED\] b \[REDACTED\]\S{0,3} c$/),
    toolCalls: [{ arguments: '{"key":"[REDACTED]"}' }],
  });
});

test('a text is cut to 300 characters, never inside a surrogate pair', () => {
  expect(clean('a'.repeat(300))).toBe('a'.repeat(300));
  expect(clean('a'.repeat(301))).toBe(`${'a'.repeat(299)}\u2026`);
  expect(clean(`${'a'.repeat(298)}\u{1f600}bb`)).toBe(`${'a'.repeat(298)}\u2026`);
});

test('a key at the place of the cut leaves no part of it behind', () => {
  expect(clean(`${'a '.repeat(148)}secret/key+1`)).not.toContain('secr');
});

test('a key that a tag divides is not put together again by the removal of the tag', () => {
  expect(createCleaner(['abcdefgh'])('x abcdefgh y <b>abcd</b>efgh')).toBe('x [REDACTED] y [REDACTED]');
});

test('no text whatever yields more than 300 characters or a line break', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary', maxLength: 2_000 }), (text) => {
      const line = clean(text);
      expect(line.length).toBeLessThanOrEqual(300);
      expect(line).not.toMatch(/[\r\n]/);
      expect(line.isWellFormed()).toBe(true);
    }),
  );
});

/** What tags are, said in the simplest way, which takes far too long on hostile text. */
const plainly = (text: string): string =>
  text
    .replace(/<(script|style|head)\b[^>]*>[\s\S]*?<\/\1\s*>/gi, ' ')
    .replace(/<[a-z/!?][^>]*>/gi, ' ')
    .replace(/&lt;/g, '<');

test('tags are left out, whatever stands around them', () => {
  const pieces = fc.constantFrom(
    ...['a', ' ', '\n', '<p>', '</p >', '<br/>', '< b', '<=', '<|x|>', '<!--', '-->', '>', '<3', '&lt;'],
    ...['<HEAD>', '</Head\n>', '<header x="1">', '<script src=x>', '</script>', '<style>', '</style>'],
  );
  fc.assert(
    fc.property(fc.array(pieces, { maxLength: 12 }), (list) => {
      // A tag within a tag, which the two rules read differently, is no text that anyone means.
      const text = list
        .join('')
        .replace(/<!--|<\|x\|>/g, (piece) => (piece === '<!--' ? '<!-- >' : `${piece} `));
      expect(stripTags(text)).toBe(plainly(text));
    }),
  );
});

test.each([
  '<a',
  '<',
  '<script>',
  '<script',
  '<!',
  '</script ',
  '<head><style>',
  '&lt',
  '<a>',
  '</',
  '<style ',
])('half a million chars of %j take no time', (piece) => {
  const text = piece.repeat(500_000 / piece.length);
  const start = performance.now();
  stripTags(text);
  expect(performance.now() - start).toBeLessThan(400);
});
