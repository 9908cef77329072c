import { expect, test } from 'vitest';
import type { ChatClientOptions } from '../../src/llm/client.js';
import type { RetryEvent } from '../../src/llm/retry.js';
import type { RawResponse } from '../support/raw-server.js';
import { ask, clientFor, completed, EVENT_STREAM, events, HELLO, serveResponses } from './harness.js';

const OK: RawResponse = { headers: EVENT_STREAM, body: HELLO };
/** As llama.cpp says it. */
const LOADING: RawResponse = {
  status: 503,
  body: JSON.stringify({ error: { message: 'Loading model', type: 'unavailable_error', code: 503 } }),
};
const times = (count: number, response: RawResponse): RawResponse[] =>
  Array.from({ length: count }, () => response);

/** A client that notes its waits instead of waiting. */
async function waiting(responses: readonly RawResponse[], options: ChatClientOptions = {}, retries = 0) {
  const server = await serveResponses(...responses);
  const waits: number[] = [];
  const failures: RetryEvent[] = [];
  const client = clientFor(
    server.url,
    { retries },
    {
      random: () => 0,
      sleep: async (ms) => waits.push(ms),
      onFailure: (failure) => failures.push(failure),
      ...options,
    },
  );
  return { client, server, waits, failures };
}

test('a server that loads its model is waited for, without any retry', async () => {
  const { client, server, waits, failures } = await waiting([...times(4, LOADING), OK]);
  expect(await ask(client)).toMatchObject({ outcome: completed('Hello'), requests: 5 });
  expect(server.requests).toHaveLength(5);
  expect(new Set(server.requests.map(({ body }) => body)).size).toBe(1);
  expect(waits).toEqual([250, 500, 1_000, 2_000]);
  expect(failures.map(({ retryInMs }) => retryInMs)).toEqual(waits);
});

test('for 2 minutes at most, then that is the outcome', async () => {
  const { client, server, waits, failures } = await waiting([LOADING]);
  const result = await ask(client);
  expect(result).toMatchObject({
    outcome: { kind: 'unavailable', status: 503, message: 'The model endpoint answered 503: Loading model' },
  });
  expect(waits).toEqual([250, 500, 1_000, 2_000, 4_000, ...Array.from({ length: 22 }, () => 5_000), 2_250]);
  expect(waits.reduce((sum, ms) => sum + ms)).toBe(120_000);
  expect([result.requests, server.requests.length]).toEqual([29, 29]);
  expect(failures.at(-1)).toMatchObject({ requests: 29, retryInMs: null });
});

test('the budget is an option, and each call has its own; 0 waits for nothing', async () => {
  const { client, server, waits } = await waiting([LOADING], { loadingBudgetMs: 1_000 });
  expect((await ask(client)).requests).toBe(4);
  expect((await ask(client)).requests).toBe(4);
  expect(waits).toEqual([250, 500, 250, 250, 500, 250]);
  expect(server.requests).toHaveLength(8);
  expect((await ask((await waiting([LOADING], { loadingBudgetMs: 0 })).client)).requests).toBe(1);
});

test('it takes nothing from the retries, nor they from it', async () => {
  const broken: RawResponse = { status: 502 };
  const { client, waits } = await waiting([LOADING, broken, LOADING, broken, OK], {}, 2);
  expect(await ask(client)).toMatchObject({ outcome: completed('Hello'), requests: 5 });
  expect(waits).toEqual([250, 250, 500, 500]);
});

test('the wait that the server asks for counts, and one beyond the budget is passed on', async () => {
  const { client, waits } = await waiting([{ ...LOADING, headers: { 'retry-after': '70' } }]);
  expect(await ask(client)).toMatchObject({ outcome: { retryAfterMs: 70_000 }, requests: 2 });
  expect(waits).toEqual([70_000]);
});

test('really waits between the requests, and ends at once when it is cancelled', async () => {
  const server = await serveResponses(LOADING, OK);
  expect((await ask(clientFor(server.url, {}, { random: () => 0 }))).requests).toBe(2);
  const [first, second] = server.requests;
  expect((second?.receivedAt ?? 0) - (first?.receivedAt ?? 0)).toBeGreaterThanOrEqual(250);

  const stuck = await serveResponses({ ...LOADING, headers: { 'retry-after': '30' } });
  const abort = new AbortController();
  const started = performance.now();
  setTimeout(() => abort.abort(), 80);
  expect(await ask(clientFor(stuck.url), abort.signal)).toMatchObject({
    outcome: { kind: 'aborted' },
    requests: 1,
  });
  expect(performance.now() - started).toBeLessThan(400);
});

test.each<[string, RawResponse]>([
  ['another text', { status: 503, body: '{"error":{"message":"Model llama-70b is currently loading"}}' }],
  ['being loaded', { status: 503, body: '{"error":"the model is still being loaded, wait"}' }],
  ['no JSON', { status: 503, body: 'Loading model' }],
  [
    'inside a 200',
    { headers: EVENT_STREAM, body: events('{"error":{"code":503,"message":"Loading model"}}') },
  ],
])('is recognised: %s', async (_name, response) => {
  expect(await ask((await waiting([response, OK])).client)).toMatchObject({
    outcome: completed('Hello'),
    requests: 2,
  });
});

test.each<[string, RawResponse]>([
  ['a 503 of another kind', { status: 503, body: '{"error":{"message":"overloaded"}}' }],
  [
    'an overloaded model',
    { status: 503, body: '{"error":{"message":"The model is overloaded, shed load"}}' },
  ],
  ['a 500 with these words', { status: 500, body: '{"error":{"message":"Loading model"}}' }],
  ['a sender that says not to', { ...LOADING, headers: { 'x-should-retry': 'false' } }],
])('is something else: %s', async (_name, response) => {
  expect((await ask((await waiting([response, OK])).client)).requests).toBe(1);
});
