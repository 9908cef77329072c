import { expect, test } from 'vitest';
import { delayInText, parseDuration } from '../../src/llm/durations.js';
import { readErrorBody } from '../../src/llm/error-facts.js';
import { explicitDelay, rateLimitDelay } from '../../src/llm/retry-delay.js';

const none = readErrorBody('');

test.each([
  ['1s', 1_000],
  ['6m0s', 360_000],
  ['120ms', 120],
  ['4.77s', 4_770],
  ['1h2m3s', 3_723_000],
  ['20 seconds', 20_000],
  ['2 minutes', 120_000],
  ['', null],
  ['soon', null],
  ['5', null],
  ['1s later', null],
])('the duration %j is %j ms', (text, expected) => {
  expect(parseDuration(text)).toBe(expected);
});

test.each([
  ['Rate limit reached. Please try again in 4.77s. Visit x', 4_770],
  ['Please retry in 38.6s.', 38_600],
  ['Please retry after 20 seconds.', 20_000],
  ['try again in 7m12.5s', 432_500],
  ['try again in a while', null],
])('the text %j asks for %j ms', (text, expected) => {
  expect(delayInText(text)).toBe(expected);
});

test.each<[Record<string, string>, number | null]>([
  [{ 'retry-after-ms': '1500', 'retry-after': '9' }, 1_500],
  [{ 'x-ms-retry-after-ms': '700', 'retry-after': '9' }, 700],
  [{ 'retry-after': '1' }, 1_000],
  [{ 'retry-after': '0.25' }, 250],
  [{ 'retry-after': '0' }, 0],
  [{ 'retry-after': '-3' }, null],
  [{ 'retry-after': 'NaN' }, null],
  [{ 'retry-after': '-1e25' }, null],
  [{ 'retry-after': '-Infinity' }, null],
  // More than a day is a day: too long to wait for, and safe to pass on.
  [{ 'retry-after': '86400' }, 86_400_000],
  [{ 'retry-after': '86401' }, 86_400_000],
  [{ 'retry-after': '1e25' }, 86_400_000],
  [{ 'retry-after': 'Infinity' }, 86_400_000],
  [{ 'retry-after': '9'.repeat(400) }, 86_400_000],
  [{ 'retry-after-ms': '1E+300' }, 86_400_000],
  [{ 'retry-after': 'Fri, 31 Dec 9999 23:59:59 GMT' }, 86_400_000],
  [{ 'retry-after': '1e1' }, 10_000],
  [{ 'retry-after': '' }, null],
  [{ 'retry-after-ms': '-1', 'retry-after': '2' }, 2_000],
  // What a number was made of by quotes, or by a second header, is no year.
  [{ 'retry-after': '"3600"' }, 3_600_000],
  [{ 'retry-after': '3600, 1' }, 3_600_000],
  [{ 'retry-after': '2,5' }, 2_000],
  [{ 'retry-after': '3600; x' }, 3_600_000],
  [{ 'retry-after': '"-1"' }, null],
  [{ 'retry-after': '2099', date: 'Sat, 01 Jan 2022 00:00:00 GMT' }, 2_099_000],
  [{ 'retry-after': 'x 3600' }, null],
  [{ 'retry-after': 'May 2099' }, null],
  [{ 'retry-after': '2099-01-01' }, null],
  [{ 'retry-after': '3600 1' }, null],
  [{ 'retry-after': 'Fri, 31 Dec 9999 23:59:59' }, null],
  [{ 'retry-after': 'Fri, 31 Foo 9999 23:59:59 GMT' }, null],
  // The three forms of a date, and a clock that cannot be read.
  [{ 'retry-after': 'Sun, 06 Nov 1994 08:49:37 GMT', date: 'Sun, 06 Nov 1994 08:49:30 GMT' }, 7_000],
  [{ 'retry-after': 'Sunday, 06-Nov-94 08:49:37 GMT', date: 'Sun, 06 Nov 1994 08:49:30 GMT' }, 7_000],
  [{ 'retry-after': 'Sun Nov  6 08:49:37 1994', date: 'Sun Nov  6 08:49:30 1994' }, 7_000],
  [{ 'retry-after': 'Fri, 31 Dec 9999 23:59:59 GMT', date: '"3600"' }, 86_400_000],
  // A date is measured by the clock of the server that wrote it, which may be wrong.
  [{ 'retry-after': 'Sat, 01 Jan 2022 00:00:10 GMT', date: 'Sat, 01 Jan 2022 00:00:00 GMT' }, 10_000],
  [{ 'retry-after': 'Sat, 01 Jan 2022 00:00:00 GMT', date: 'Sat, 01 Jan 2022 00:00:10 GMT' }, null],
])('the headers %j ask for %j ms', (headers, expected) => {
  expect(explicitDelay(headers, none)).toBe(expected);
  expect(rateLimitDelay(headers, none)).toBe(expected);
});

test.each<[Record<string, string>, number | null]>([
  [{ 'x-ratelimit-reset-requests': '2s' }, 2_000],
  [{ 'x-ratelimit-reset-requests': '2s', 'x-ratelimit-reset-tokens': '6m0s' }, 360_000],
  [
    {
      'x-ratelimit-reset-requests': '2s',
      'x-ratelimit-remaining-requests': '0',
      'x-ratelimit-reset-tokens': '6m0s',
      'x-ratelimit-remaining-tokens': '900',
    },
    2_000,
  ],
  [{ 'x-ratelimit-reset-tokens': 'never' }, null],
  [{ 'anthropic-ratelimit-requests-reset': '"3600"' }, null],
])('the reset headers %j ask for %j ms, but only of a rate limit', (headers, expected) => {
  expect(rateLimitDelay(headers, none)).toBe(expected);
  expect(explicitDelay(headers, none)).toBe(null);
});

test('a reset as epoch in ms, in seconds, as a date, and inside the error document', () => {
  const at = Date.now() + 30_000;
  const inBody = readErrorBody(
    JSON.stringify({ error: { message: 'x', metadata: { headers: { 'X-RateLimit-Reset': String(at) } } } }),
  );
  const delays = [
    rateLimitDelay({ 'x-ratelimit-reset': String(at) }, none),
    rateLimitDelay({ 'x-ratelimit-reset': String(Math.ceil(at / 1_000)) }, none),
    rateLimitDelay({ 'anthropic-ratelimit-requests-reset': new Date(at).toISOString() }, none),
    rateLimitDelay({}, inBody),
  ];
  for (const delay of delays) {
    expect(delay).toBeGreaterThan(28_000);
    expect(delay).toBeLessThanOrEqual(31_000);
  }
});

test('headers beat RetryInfo, RetryInfo beats the text', () => {
  const facts = readErrorBody(
    JSON.stringify([{ error: { message: 'Please retry in 50s', details: [{ retryDelay: '26s' }] } }]),
  );
  expect(explicitDelay({ 'retry-after': '3' }, facts)).toBe(3_000);
  expect(explicitDelay({}, facts)).toBe(26_000);
  expect(explicitDelay({}, readErrorBody('{"error":"Please retry in 50s"}'))).toBe(50_000);
});
