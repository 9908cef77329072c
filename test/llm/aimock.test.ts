import { LLMock } from '@copilotkit/aimock';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { ask, clientFor } from './harness.js';

/** A server by others, for what an ordinary endpoint does. */
const mock = new LLMock({ port: 0, host: '127.0.0.1' });

beforeAll(() => mock.start());
afterAll(() => mock.stop());
beforeEach(() => {
  mock.clearFixtures();
  mock.clearRequests();
  mock.resetMatchCounts();
});

const quick = { sleep: async () => {} };

test('a streamed reply with usage', async () => {
  mock.onMessage('Hello', {
    content: 'Hi there, how are you?',
    usage: { prompt_tokens: 11, completion_tokens: 6 },
  });
  expect(await ask(clientFor(mock.url))).toMatchObject({
    outcome: {
      kind: 'ok',
      text: 'Hi there, how are you?',
      finishReason: 'stop',
      refusal: null,
      toolCalls: [],
      model: 'test-model',
    },
    requests: 1,
    usage: { inputTokens: 11, outputTokens: 6 },
  });
  expect(mock.getLastRequest()).toMatchObject({ path: '/v1/chat/completions', body: { stream: true } });
});

test('reasoning is kept out of the text', async () => {
  mock.onMessage('Hello', { content: 'The answer.', reasoning: 'Let me think.' });
  expect((await ask(clientFor(mock.url))).outcome).toMatchObject({ kind: 'ok', text: 'The answer.' });
});

test('a reply that was cut by the output limit says so', async () => {
  mock.onMessage('Hello', { content: 'The ferry leaves at ni', finishReason: 'length' });
  expect((await ask(clientFor(mock.url))).outcome).toMatchObject({ kind: 'ok', finishReason: 'length' });
});

test('parallel tool calls', async () => {
  mock.onMessage('Hello', {
    toolCalls: [
      { id: 'a', name: 'look_up', arguments: '{"city":"Bergen","days":3}' },
      { id: 'b', name: 'store', arguments: '{}' },
    ],
  });
  expect((await ask(clientFor(mock.url))).outcome).toMatchObject({
    kind: 'ok',
    text: '',
    finishReason: 'tool_calls',
    toolCalls: [
      { id: 'a', name: 'look_up', arguments: '{"city":"Bergen","days":3}' },
      { id: 'b', name: 'store', arguments: '{}' },
    ],
  });
});

test('a slow stream in small pieces', async () => {
  mock.onMessage('Hello', { content: 'one two three four five' }, { latency: 20, chunkSize: 3 });
  const { outcome } = await ask(clientFor(mock.url, { silenceTimeoutMs: 500 }));
  expect(outcome).toMatchObject({ kind: 'ok', text: 'one two three four five' });
});

test('a stream that is cut is incomplete', async () => {
  mock.onMessage(
    'Hello',
    { content: 'one two three four five' },
    { latency: 10, chunkSize: 3, truncateAfterChunks: 3 },
  );
  expect((await ask(clientFor(mock.url))).outcome).toMatchObject({ kind: 'incomplete' });
});

test('one failure, then the reply', async () => {
  mock.onMessage('Hello', { content: 'Hi' });
  mock.nextRequestError(500, { message: 'internal', type: 'server_error' });
  expect(await ask(clientFor(mock.url, { retries: 2 }, quick))).toMatchObject({
    outcome: { kind: 'ok', text: 'Hi' },
    requests: 2,
  });
});

test('429 with the Retry-After that this server sends', async () => {
  mock.onMessage('Hello', { content: 'Hi' });
  mock.nextRequestError(429, { message: 'slow down', code: 'rate_limit_exceeded' });
  const waits: number[] = [];
  const client = clientFor(
    mock.url,
    { retries: 2 },
    { random: () => 0, sleep: async (ms) => waits.push(ms) },
  );
  expect(await ask(client)).toMatchObject({ outcome: { kind: 'ok' }, requests: 2 });
  expect(waits).toEqual([1_000]);
});

test.each([
  [401, 'invalid_api_key', 'auth'],
  [402, 'insufficient_quota', 'quota'],
  [400, 'context_length_exceeded', 'overflow'],
  [404, 'model_not_found', 'bad_request'],
])('the error %i %s is %s', async (status, code, kind) => {
  mock.onMessage('Hello', { content: 'Hi' });
  mock.nextRequestError(status, { message: 'refused', code });
  const result = await ask(clientFor(mock.url, { retries: 2 }, quick));
  expect(result).toMatchObject({ outcome: { kind, status }, requests: 1 });
});
