import { describe, expect, test } from 'vitest';
import type { RetryEvent } from '../../src/llm/retry.js';
import type { RawResponse } from '../support/raw-server.js';
import { rawChunk, rawResponse } from '../support/raw-server.js';
import {
  ask,
  clientFor,
  completed,
  delta,
  EVENT_STREAM,
  events,
  HELLO,
  serve,
  serveResponses,
} from './harness.js';

const OK: RawResponse = { headers: EVENT_STREAM, body: HELLO };
const refusal = (status: number, headers: Record<string, string> = {}, message = 'no'): RawResponse => ({
  status,
  headers,
  body: JSON.stringify({ error: { message } }),
});

/** A client that notes its waits instead of waiting. */
function impatient(url: string, retries = 2, random = 0) {
  const waits: number[] = [];
  const failures: RetryEvent[] = [];
  const client = clientFor(
    url,
    { retries },
    {
      random: () => random,
      sleep: async (ms) => {
        waits.push(ms);
      },
      onFailure: (failure) => failures.push(failure),
    },
  );
  return { client, waits, failures };
}

test('429 with Retry-After: 1, then ok: exactly 2 requests, at least 1 s apart', async () => {
  const server = await serveResponses(refusal(429, { 'retry-after': '1' }), OK);
  const { outcome, requests } = await ask(clientFor(server.url, { retries: 2 }));
  expect(outcome).toEqual(completed('Hello'));
  expect([requests, server.requests.length]).toEqual([2, 2]);
  const [first, second] = server.requests;
  expect((second?.receivedAt ?? 0) - (first?.receivedAt ?? 0)).toBeGreaterThanOrEqual(1_000);
});

test.each(['Infinity', '1e25', '9'.repeat(40)])(
  'Retry-After: %s fails at once, with a day to pass on',
  async (value) => {
    const server = await serveResponses(refusal(429, { 'retry-after': value }));
    const { client, waits } = impatient(server.url);
    expect(await ask(client)).toMatchObject({
      outcome: { kind: 'rate_limited', retryAfterMs: 86_400_000 },
      requests: 1,
    });
    expect(waits).toEqual([]);
  },
);

test.each(['-1', 'NaN', '-Infinity', 'soon'])('Retry-After: %s is no hint', async (value) => {
  const server = await serveResponses(refusal(503, { 'retry-after': value }), OK);
  const { client, waits } = impatient(server.url);
  expect(await ask(client)).toMatchObject({ outcome: { kind: 'ok' }, requests: 2 });
  expect(waits).toEqual([250]);
});

test.each([
  [429, 'rate_limited'],
  [503, 'unavailable'],
])('%i with Retry-After: 120 is not waited for, but passed on', async (status, kind) => {
  const server = await serveResponses(refusal(status, { 'retry-after': '120' }));
  const { client, waits, failures } = impatient(server.url);
  expect(await ask(client)).toMatchObject({ outcome: { kind, status, retryAfterMs: 120_000 }, requests: 1 });
  expect(server.requests).toHaveLength(1);
  expect(waits).toEqual([]);
  expect(failures).toMatchObject([{ kind, requests: 1, retryInMs: null }]);
});

test('always 503 with 2 retries: exactly 3 requests with the same bytes, backing off', async () => {
  const server = await serveResponses(refusal(503));
  const client = clientFor(server.url, { retries: 2 });
  expect(await ask(client)).toMatchObject({ outcome: { kind: 'unavailable', status: 503 }, requests: 3 });
  expect(server.requests).toHaveLength(3);
  expect(new Set(server.requests.map(({ body }) => body)).size).toBe(1);
  const [a = 0, b = 0, c = 0] = server.requests.map(({ receivedAt }) => receivedAt);
  expect(b - a).toBeGreaterThanOrEqual(250);
  expect(b - a).toBeLessThan(700);
  expect(c - b).toBeGreaterThanOrEqual(500);
  expect(c - b).toBeLessThan(1_200);
});

test('the backoff doubles from 500 ms, between half and whole, up to 8 s', async () => {
  const server = await serveResponses(refusal(503));
  const shortest = impatient(server.url, 6, 0);
  await ask(shortest.client);
  expect(shortest.waits).toEqual([250, 500, 1_000, 2_000, 4_000, 4_000]);
  const longest = impatient(server.url, 6, 0.999_999);
  await ask(longest.client);
  expect(longest.waits).toEqual([500, 1_000, 2_000, 4_000, 8_000, 8_000]);
});

test('a hint is waited for in full, up to 60 s; a hint of 0 is none', async () => {
  const server = await serveResponses(
    refusal(503, { 'retry-after': '60' }),
    refusal(429, { 'retry-after-ms': '1500' }),
    refusal(503, { 'retry-after': '0' }),
    OK,
  );
  const { client, waits } = impatient(server.url, 3);
  expect(await ask(client)).toMatchObject({ outcome: { kind: 'ok' }, requests: 4 });
  expect(waits).toEqual([60_000, 1_500, 1_000]);
});

test('0 retries: one request', async () => {
  const server = await serveResponses(refusal(503));
  expect(await ask(clientFor(server.url))).toMatchObject({ outcome: { kind: 'unavailable' }, requests: 1 });
  expect(server.requests).toHaveLength(1);
});

test('500, then a connection that is lost in the body, then ok: 3 requests', async () => {
  const server = await serve(async (connection, { index }) => {
    if (index === 0) connection.write(rawResponse(refusal(500)));
    if (index === 2) connection.write(rawResponse(OK));
    if (index !== 1) return;
    connection.write(
      'HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n',
    );
    connection.write(rawChunk(events(delta('Hel'))));
    await connection.pause(20);
    connection.reset();
  });
  const { client, failures } = impatient(server.url);
  expect(await ask(client)).toMatchObject({ outcome: completed('Hello'), requests: 3 });
  expect(new Set(server.requests.map(({ body }) => body)).size).toBe(1);
  expect(failures.map(({ kind }) => kind)).toEqual(['unavailable', 'incomplete']);
});

describe('is sent again', () => {
  test.each<[string, RawResponse]>([
    ['408', refusal(408)],
    ['409', refusal(409)],
    ['429', refusal(429)],
    ['500', refusal(500)],
    [
      '502 as HTML',
      { status: 502, headers: { 'content-type': 'text/html' }, body: '<html>Bad gateway</html>' },
    ],
    ['529', refusal(529)],
    ['a 200 with an error', { body: '{"error":{"message":"overloaded"}}' }],
    [
      'a 200 with an error event',
      { headers: EVENT_STREAM, body: events('{"error":{"message":"overloaded"}}') },
    ],
    ['a 200 without a choice', { body: '{"choices":[]}' }],
    ['a 200 without JSON', { body: 'hello' }],
    ['a 200 with HTML', { headers: { 'content-type': 'text/html' }, body: '<html></html>' }],
    ['a 200 with nothing', {}],
    ['a stream that ends early', { headers: EVENT_STREAM, body: events(delta('Hel')) }],
    ['a 400 whose sender says so', refusal(400, { 'x-should-retry': 'true' })],
  ])('%s', async (_name, response) => {
    const server = await serveResponses(response, OK);
    expect(await ask(impatient(server.url).client)).toMatchObject({
      outcome: completed('Hello'),
      requests: 2,
    });
    expect(server.requests).toHaveLength(2);
  });
});

describe('is not sent again', () => {
  test.each<[string, RawResponse, string]>([
    ['400', refusal(400), 'bad_request'],
    ['401', refusal(401), 'auth'],
    ['402', refusal(402), 'quota'],
    ['403', refusal(403), 'auth'],
    ['404', refusal(404), 'bad_request'],
    ['413', refusal(413), 'overflow'],
    ['422', refusal(422), 'bad_request'],
    ['an overflow as 500', refusal(500, {}, 'Context size has been exceeded.'), 'overflow'],
    ['an exhausted account as 429', refusal(429, {}, 'You exceeded your current quota'), 'quota'],
    ['a template error as 500', refusal(500, {}, 'Jinja Exception: no'), 'bad_request'],
    ['a key error in a 200', { body: '{"error":{"code":401,"message":"no"}}' }, 'auth'],
    ['a blank reply, which the caller judges', { body: '{"choices":[{"message":{"content":" "}}]}' }, 'ok'],
    ['a 503 whose sender says so', refusal(503, { 'x-should-retry': 'false' }), 'unavailable'],
  ])('%s', async (_name, response, kind) => {
    const server = await serveResponses(response, OK);
    expect(await ask(impatient(server.url).client)).toMatchObject({ outcome: { kind }, requests: 1 });
    expect(server.requests).toHaveLength(1);
  });
});

test('usage adds up over the requests that reported it', async () => {
  const usage = { prompt_tokens: 1_000, completion_tokens: 50 };
  const server = await serveResponses(
    { status: 500, body: JSON.stringify({ error: 'x', usage }) },
    refusal(500),
    { headers: EVENT_STREAM, body: events(delta('Hello', { usage: { prompt_tokens: 1_000 } }), '[DONE]') },
  );
  expect((await ask(impatient(server.url).client)).usage).toEqual({ inputTokens: 2_000, outputTokens: 50 });
});
