import { expect, test } from 'vitest';
import { addressingOf } from '../../src/llm/addressing.js';
import { readErrorBody } from '../../src/llm/error-facts.js';
import { createCleaner } from '../../src/llm/redact.js';
import { createReplyRedactor } from '../../src/llm/reply-secrets.js';
import { endpoint } from './harness.js';

const KEY = 'vendor key/with+odd "chars" 123';

test.each([
  ['a tag', 'vendor <b>key</b>/wi<i/>th+odd "chars" 123'],
  ['a control character', 'vendor key/wi\u0007th+odd "chars" 123'],
  ['a line break', 'vendor\nkey/with+odd "cha\r\nrs" 123'],
  ['an entity', 'vendor&nbsp;key/with+odd &quot;chars&quot; 123'],
  ['its end', 'vendor key/with+odd "cha'],
])('a key that %s divides is not shown', (_name, echo) => {
  expect(createCleaner([KEY])(`x ${echo}`)).toBe('x [REDACTED]');
});

test('a key behind more blanks than a text of an error may have is cut, and not shown in part', () => {
  const { text } = readErrorBody(`x${' '.repeat(8_181)}${KEY}`);
  expect(text.slice(-11)).toBe(' vendor key');
  expect(createCleaner([KEY])(text)).toBe('x [REDACTED]');
});

test('calls hold a key in no part: ids, names, escaped arguments, further fields', () => {
  const secret = 'Zq7Xw9Kp3TbNv5Rm8Ld2Hs';
  const redact = createReplyRedactor(endpoint('http://h', { apiKey: secret }));
  const call = (id: string, args: string) => ({ id, name: `f_${secret}`, arguments: args });
  const outcome = redact({
    kind: 'ok',
    text: '',
    finishReason: secret,
    refusal: null,
    toolCalls: [
      call(`call_${secret}`, `{"u":"\\u005a${secret.slice(1)}","n":1}`),
      call(`call_${secret}`, `{"u":"${secret.slice(0, 5)}\\u0000${secret.slice(5)}", "n": [true, "x"]}`),
      call('plain', '{"a" : "\\u00e9\\n"}'),
      call('broken', `{"a": "\\u005a${secret.slice(1)}`),
      { ...call('more', '{}'), extra: { google: { signature: `a${secret}`, deep: [{ [secret]: 1 }] } } },
    ],
    model: `m-${secret}`,
  });
  if (outcome.kind !== 'ok') throw new Error('not ok');
  const [first, second, third, fourth, fifth] = outcome.toolCalls;
  expect([first?.id, second?.id]).toEqual([
    expect.stringMatching(/^call_[\da-f-]{36}$/),
    expect.stringMatching(/^call_[\da-f-]{36}$/),
  ]);
  expect(first?.id).not.toBe(second?.id);
  expect([first, second, third, fourth].map((each) => each?.arguments)).toEqual([
    '{"u":"[REDACTED]","n":1}',
    '{"u":"[REDACTED]","n":[true,"x"]}',
    '{"a" : "\\u00e9\\n"}',
    '{"a": "[REDACTED]',
  ]);
  expect(fifth?.extra).toEqual({ google: { signature: 'a[REDACTED]', deep: [{ '[REDACTED]': 1 }] } });
  expect(outcome.toolCalls.map(({ name }) => name)).toEqual(Array(5).fill('f_[REDACTED]'));
  expect([outcome.model, outcome.finishReason]).toEqual(['m-[REDACTED]', '[REDACTED]']);
});

test('a query and the password of a Basic header are secrets', () => {
  const basic = Buffer.from('joe:hunter2secret').toString('base64');
  const { secrets } = addressingOf(
    endpoint('http://h/v1?key=QuErY%20SeCrEt99&api-version=2024-10-21', {
      extraHeaders: { Authorization: `Basic ${basic}` },
    }),
  );
  const line = createCleaner(secrets)(
    'GET /v1?key=QuErY%20SeCrEt99&api-version=2024-10-21, query secret99 of joe with hunter2secret',
  );
  expect(line).toBe('GET /v1?key=[REDACTED]&api-version=2024-10-21, [REDACTED] of joe with [REDACTED]');
});

test('a call of which a key is taken out stays as it was otherwise, byte by byte', () => {
  const secret = 'Zq7Xw9Kp3TbNv5Rm8Ld2Hs';
  const redact = createReplyRedactor(endpoint('http://h', { apiKey: secret }));
  const args = `{ "n" : 1.0, "big": 12345678901234567890, "u":"${secret}", "v" : "\\u00e9" }`;
  const outcome = redact({
    kind: 'ok',
    text: '',
    finishReason: null,
    refusal: null,
    toolCalls: [{ id: 'x', name: 'f', arguments: args }],
    model: null,
  });
  expect(outcome).toMatchObject({ toolCalls: [{ arguments: args.replace(secret, '[REDACTED]') }] });
});

test.each(['password123', 'sk-no-key', 'changeme', 'not-needed', 'lm-studio', 'anything', '12345678'])(
  'a reply may say %s, whatever is configured as the key',
  (word) => {
    const redact = createReplyRedactor(endpoint('http://h', { apiKey: word }));
    const outcome = {
      kind: 'ok' as const,
      text: `a ${word} b`,
      finishReason: null,
      refusal: null,
      toolCalls: [{ id: word, name: word, arguments: `{"a": "${word}"}` }],
      model: word,
    };
    expect(redact(outcome)).toEqual(outcome);
  },
);
