import { describe, expect, test } from 'vitest';
import { addressingOf } from '../../src/llm/addressing.js';
import { createChatClient } from '../../src/llm/client.js';
import type { EndpointConfig } from '../../src/llm/endpoint.js';
import { ask, clientFor, EVENT_STREAM, endpoint, HELLO, serveResponses } from './harness.js';

/** The one request that an endpoint with these settings gets. */
async function requestWith(path: string, overrides: Partial<EndpointConfig>) {
  const server = await serveResponses({ headers: EVENT_STREAM, body: HELLO });
  await ask(clientFor(`${server.url}${path}`, overrides));
  const [request] = server.requests;
  if (request === undefined) throw new Error('there was no request');
  return { path: request.path, headers: request.headers, body: JSON.parse(request.body) };
}

describe('Azure', () => {
  test('classic: deployment in the path, api-version in the query, key in its own header', async () => {
    const { path, headers } = await requestWith('/openai/deployments/gpt-5-mini', {
      apiVersion: '2024-10-21',
      authHeader: 'api-key',
    });
    expect(path).toBe('/openai/deployments/gpt-5-mini/chat/completions?api-version=2024-10-21');
    expect(headers['api-key']).toBe('test-key-1234567890');
    expect(headers).not.toHaveProperty('authorization');
  });

  test('a version in the base URL is replaced, other parts of the query stay', async () => {
    const { path } = await requestWith('/openai/v1/?a=b&api-version=old', { apiVersion: 'preview' });
    expect(path).toBe('/openai/v1/chat/completions?a=b&api-version=preview');
  });
});

test('no key is sent where none is wanted', async () => {
  const { headers } = await requestWith('', { authHeader: 'none' });
  expect(headers).not.toHaveProperty('authorization');
  expect(headers).not.toHaveProperty('api-key');
});

test('extra headers are sent, and replace our own of that name', async () => {
  const { headers } = await requestWith('', {
    extraHeaders: {
      'X-Portkey-Provider': 'groq',
      'HTTP-Referer': 'http://a.test',
      Authorization: 'Basic xyz',
    },
  });
  expect(headers).toMatchObject({
    'x-portkey-provider': 'groq',
    'http-referer': 'http://a.test',
    authorization: 'Basic xyz',
    'content-type': 'application/json',
  });
});

test('a header is sent once, however its name is written', () => {
  const { headers, url } = addressingOf(
    endpoint('http://h/v1', { extraHeaders: { AUTHORIZATION: 'Basic xyz', Accept: 'text/event-stream' } }),
  );
  expect(headers).toEqual({
    'content-type': 'application/json',
    'accept-encoding': 'identity',
    accept: 'text/event-stream',
    authorization: 'Basic xyz',
  });
  expect(url.href).toBe('http://h/v1/chat/completions');
});

test('extra fields are added to the body, and replace none of our own', async () => {
  const { body } = await requestWith('', {
    maxOutputTokens: 50,
    extraBody: {
      chat_template_kwargs: { enable_thinking: false },
      reasoning_effort: 'low\ud800',
      stream_options: { include_usage: true, extra: 1 },
      model: 'x',
      messages: [],
      stream: false,
      max_tokens: 1,
      max_completion_tokens: 1,
    },
  });
  expect(body).toEqual({
    model: 'test-model',
    messages: [{ role: 'user', content: 'Hello' }],
    stream: true,
    stream_options: { include_usage: true, extra: 1 },
    max_tokens: 50,
    chat_template_kwargs: { enable_thinking: false },
    reasoning_effort: 'low\ufffd',
  });
});

test('values are secret whose names say so, of headers and in the query', () => {
  const secretNames = ['X-Api-Key', 'Cookie', 'Authorization', 'X-Auth', 'X-Amz-Signature', 'X-Sig'];
  const names = ['HTTP-Referer', 'X-Title', 'User-Agent', 'anthropic-version', 'X-Design', ...secretNames];
  const extraHeaders = Object.fromEntries(names.map((name) => [name, `${name} value`]));
  const query = 'sig=sig value&code_secret=secret value&deployment=dep value&region=reg value';
  const { secrets } = addressingOf(endpoint(`http://h/v1?${query}`, { apiKey: 'key value', extraHeaders }));
  expect([...new Set(secrets)]).toEqual([
    'key value',
    ...secretNames.map((name) => `${name} value`),
    'sig value',
    'secret value',
  ]);
});

test('the values of secret extra headers are kept out of messages, whole and without their scheme', async () => {
  const server = await serveResponses({
    status: 400,
    body: JSON.stringify({
      error: 'got gateway-secret-1 and Zm9vOmJhcg and "Basic Zm9vOmJhcg" of compactd-tests, key gateway',
    }),
  });
  const client = clientFor(server.url, {
    apiKey: 'gateway',
    extraHeaders: {
      'X-Gateway-Key': 'gateway-secret-1',
      Authorization: 'Basic Zm9vOmJhcg',
      'X-Title': 'compactd-tests',
    },
  });
  expect((await ask(client)).outcome).toMatchObject({
    message:
      'The model endpoint answered 400: got [REDACTED] and [REDACTED] and "[REDACTED]" of compactd-tests, key gateway',
  });
});

test.each([
  [{ 'X-Bad\n': 'v' }, 'holds a name that no header can have'],
  [{ 'X-Bad': 'secret\r\nX-Other: 1' }, 'holds a value for x-bad that no header can have'],
  [{ 'Transfer-Encoding': 'secret' }, 'must not set transfer-encoding'],
])('extra headers that cannot be sent are refused when the client is made: %j', (extraHeaders, fault) => {
  expect(() => createChatClient(endpoint('http://h', { extraHeaders }))).toThrow(
    new Error(`The extra headers of a model endpoint ${fault}`),
  );
});
