import { expect, test } from 'vitest';
import type { EndpointConfig } from '../../src/llm/endpoint.js';
import type { RetryEvent } from '../../src/llm/retry.js';
import { type RawResponse, rawResponse } from '../support/raw-server.js';
import { ask, clientFor, completed, EVENT_STREAM, events, HELLO, okJson, serve } from './harness.js';

const OK: RawResponse = { headers: EVENT_STREAM, body: HELLO };
const USAGE = { prompt_tokens: 3, completion_tokens: 0 };
const refuse = (param: string, message = 'Unsupported', status = 400): RawResponse => ({
  status,
  body: JSON.stringify({ error: { message, param }, usage: USAGE }),
});

type Body = Readonly<Record<string, unknown>>;

/** A server that answers by what the request holds, and a client for it without retries. */
async function negotiating(
  answer: (body: Body, index: number) => RawResponse,
  overrides: Partial<EndpointConfig> = {},
) {
  const bodies: Body[] = [];
  const server = await serve((connection, request) => {
    const body: Body = JSON.parse(request.body);
    bodies.push(body);
    connection.write(rawResponse(answer(body, request.index)));
  });
  const failures: RetryEvent[] = [];
  const client = clientFor(server.url, overrides, { onFailure: (event) => failures.push(event) });
  return { client, bodies, failures };
}

const fieldsOf = (bodies: readonly Body[]) =>
  bodies.map(({ model: _model, messages: _messages, ...fields }) => fields);
const STREAM = { stream: true, stream_options: { include_usage: true } };

test('a refused name of the cap: one more request at once, which is remembered for the model', async () => {
  const { client, bodies, failures } = await negotiating(
    (body) => ('max_tokens' in body ? refuse('max_tokens') : OK),
    { maxOutputTokens: 100 },
  );
  expect(await ask(client)).toEqual({
    outcome: completed('Hello'),
    requests: 2,
    usage: { inputTokens: 3, outputTokens: 0 },
  });
  expect(failures).toEqual([
    {
      kind: 'bad_request',
      message: 'The model endpoint answered 400: Unsupported',
      requests: 1,
      retryInMs: 0,
      change: 'sending the output cap as max_completion_tokens',
    },
  ]);
  expect(await ask(client)).toMatchObject({ outcome: { kind: 'ok' }, requests: 1 });
  expect(fieldsOf(bodies)).toEqual([
    { ...STREAM, max_tokens: 100 },
    { ...STREAM, max_completion_tokens: 100 },
    { ...STREAM, max_completion_tokens: 100 },
  ]);
});

test('what one model taught says nothing about another, nor to another client', async () => {
  const { client, bodies } = await negotiating((body) =>
    body['model'] === 'test-model' && 'stream_options' in body ? refuse('stream_options') : OK,
  );
  const { signal } = new AbortController();
  await ask(client);
  await client.complete({ messages: [], model: 'other', signal });
  expect(fieldsOf(bodies)).toEqual([STREAM, { stream: true }, STREAM]);
});

test('a cap that is too large is lowered once, and stays below what was learned', async () => {
  const { client, bodies } = await negotiating((body) =>
    Number(body['max_tokens']) > 4_096 ? refuse('max_tokens', 'supports at most 4096 tokens') : OK,
  );
  const { signal } = new AbortController();
  const messages = [{ role: 'user', content: 'x' }];
  expect((await client.complete({ messages, signal, maxOutputTokens: 9_000 })).requests).toBe(2);
  expect((await client.complete({ messages, signal, maxOutputTokens: 9_000 })).requests).toBe(1);
  expect((await client.complete({ messages, signal, maxOutputTokens: 100 })).requests).toBe(1);
  expect(bodies.map((body) => body['max_tokens'])).toEqual([9_000, 4_096, 4_096, 100]);
});

test('a cap that only this prompt made too large is not remembered', async () => {
  const { client, bodies } = await negotiating(
    (body) =>
      Number(body['max_tokens']) > 4_061
        ? refuse(
            'max_tokens',
            "'max_tokens' is too large: 9000. This model's maximum context length is 4096 tokens and your request has 35 input tokens (9000 > 4096 - 35).",
          )
        : OK,
    { maxOutputTokens: 9_000 },
  );
  expect((await ask(client)).requests).toBe(2);
  expect((await ask(client)).requests).toBe(2);
  expect(bodies.map((body) => body['max_tokens'])).toEqual([9_000, 4_061, 9_000, 4_061]);
});

test('a refused stream becomes a plain JSON reply', async () => {
  const { client, bodies } = await negotiating((body) =>
    'stream' in body ? refuse('stream') : { body: okJson('Hello') },
  );
  expect(await ask(client)).toMatchObject({ outcome: completed('Hello'), requests: 2 });
  expect(await ask(client)).toMatchObject({ outcome: completed('Hello'), requests: 1 });
  expect(fieldsOf(bodies)).toEqual([STREAM, {}, {}]);
});

test('a 422 of FastAPI, a refusal inside a 200, and configured fields', async () => {
  const { client, bodies } = await negotiating(
    (body) => {
      if ('stream_options' in body) {
        const detail = [{ type: 'extra_forbidden', loc: ['body', 'stream_options'], msg: 'Extra inputs' }];
        return { status: 422, body: JSON.stringify({ detail }) };
      }
      if (!('temperature' in body)) return OK;
      const error = { code: 400, message: 'Unsupported', param: 'temperature' };
      return { headers: EVENT_STREAM, body: events(JSON.stringify({ error })) };
    },
    { extraBody: { temperature: 0, seed: 1 } },
  );
  expect(await ask(client)).toMatchObject({ outcome: completed('Hello'), requests: 3 });
  expect(fieldsOf(bodies)).toEqual([
    { ...STREAM, temperature: 0, seed: 1 },
    { stream: true, temperature: 0, seed: 1 },
    { stream: true, seed: 1 },
  ]);
});

test('three changes at most; then the refusal stands, and nothing is remembered', async () => {
  const order = ['stream_options', 'temperature', 'top_p', 'max_tokens'];
  const { client, bodies, failures } = await negotiating(
    (body) => {
      const refused = order.find((name) => name in body);
      return refused === undefined ? OK : refuse(refused);
    },
    { maxOutputTokens: 100, extraBody: { temperature: 0, top_p: 1 } },
  );
  const result = await ask(client);
  expect(result).toMatchObject({
    outcome: { kind: 'bad_request', param: 'max_tokens' },
    requests: 4,
    usage: { inputTokens: 12, outputTokens: 0 },
  });
  expect(failures.map(({ change }) => change)).toEqual([
    'leaving out stream_options',
    'leaving out temperature',
    'leaving out top_p',
    null,
  ]);
  await ask(client);
  expect(bodies[4]).toEqual(bodies[0]);
});

const refusesCaps = (body: Body): RawResponse | null => {
  const name = ['max_tokens', 'max_completion_tokens'].find((field) => field in body);
  return name === undefined ? null : refuse(name);
};

test('an endpoint that refuses both names of the cap gets none, and none from then on', async () => {
  const { client, bodies, failures } = await negotiating((body) => refusesCaps(body) ?? OK, {
    maxOutputTokens: 100,
  });
  expect(await ask(client)).toMatchObject({ outcome: completed('Hello'), requests: 3 });
  expect(await ask(client)).toMatchObject({ outcome: completed('Hello'), requests: 1 });
  expect(fieldsOf(bodies)).toEqual([
    { ...STREAM, max_tokens: 100 },
    { ...STREAM, max_completion_tokens: 100 },
    STREAM,
    STREAM,
  ]);
  expect(failures.map(({ change }) => change)).toEqual([
    'sending the output cap as max_completion_tokens',
    'leaving out the output cap',
  ]);
});

test('leaving the cap out is one of the three changes of a call', async () => {
  const { client, bodies } = await negotiating(
    (body) => refusesCaps(body) ?? refuse('stream_options' in body ? 'stream_options' : 'stream'),
    { maxOutputTokens: 100 },
  );
  expect(await ask(client)).toMatchObject({ outcome: { kind: 'bad_request' }, requests: 4 });
  expect(bodies.at(-1)).not.toHaveProperty('stream_options');
  await ask(client);
  expect(bodies[4]).toEqual(bodies[0]);
});

test('a cap that is refused under its name and then for its size stays lowered', async () => {
  const { client, bodies } = await negotiating(
    (body) => {
      if ('max_tokens' in body) return refuse('max_tokens');
      return Number(body['max_completion_tokens']) > 50
        ? refuse('max_completion_tokens', 'supports at most 50 tokens')
        : OK;
    },
    { maxOutputTokens: 100 },
  );
  expect(await ask(client)).toMatchObject({ outcome: completed('Hello'), requests: 3 });
  expect(bodies.at(-1)).toHaveProperty('max_completion_tokens', 50);
});

test('a change is no retry: the retries are all left after it, with the new bytes', async () => {
  const { client, bodies } = await negotiating(
    (body, index) => {
      if ('stream_options' in body) return refuse('stream_options');
      return index < 3 ? { status: 503 } : OK;
    },
    { retries: 2 },
  );
  expect(await ask(client)).toMatchObject({ outcome: completed('Hello'), requests: 4 });
  expect(fieldsOf(bodies)).toEqual([STREAM, { stream: true }, { stream: true }, { stream: true }]);
});

test.each([401, 403, 404, 500])('%i that names a parameter is not about the form', async (status) => {
  const { client, bodies } = await negotiating(() => refuse('stream_options', 'Unsupported', status));
  expect((await ask(client)).outcome).toMatchObject({ status });
  expect(bodies).toHaveLength(1);
});

test('changes of different kinds follow each other in one call', async () => {
  const { client, bodies } = await negotiating(
    (body) => {
      if ('max_tokens' in body) return refuse('max_tokens');
      if ('stream_options' in body) return refuse('stream_options');
      const cap = Number(body['max_completion_tokens']);
      return cap > 50 ? refuse('max_completion_tokens', 'supports at most 50 tokens') : OK;
    },
    { maxOutputTokens: 100 },
  );
  expect(await ask(client)).toMatchObject({ outcome: completed('Hello'), requests: 4 });
  expect(await ask(client)).toMatchObject({ outcome: completed('Hello'), requests: 1 });
  expect(fieldsOf(bodies)).toEqual([
    { ...STREAM, max_tokens: 100 },
    { ...STREAM, max_completion_tokens: 100 },
    { stream: true, max_completion_tokens: 100 },
    { stream: true, max_completion_tokens: 50 },
    { stream: true, max_completion_tokens: 50 },
  ]);
});

test('stream options that are configured are left out like our own', async () => {
  const { client, bodies } = await negotiating(
    (body) => ('stream_options' in body ? refuse('stream_options') : OK),
    { extraBody: { stream_options: { include_usage: false } } },
  );
  expect(await ask(client)).toMatchObject({ outcome: completed('Hello'), requests: 2 });
  expect(fieldsOf(bodies)).toEqual([
    { stream: true, stream_options: { include_usage: false } },
    { stream: true },
  ]);
});

test.each([
  [
    'overflow',
    "'max_tokens' is too large: 1000. This model's maximum context length is 4096 tokens and your request has 3500 input tokens (1000 > 4096 - 3500).",
  ],
  ['auth', 'Incorrect API key provided'],
])('a refusal that is %s is not about the form, whatever parameter it names', async (kind, message) => {
  const { client, bodies } = await negotiating(() => refuse('max_tokens', message), {
    maxOutputTokens: 1_000,
  });
  expect(await ask(client)).toMatchObject({ outcome: { kind }, requests: 1 });
  expect(bodies).toHaveLength(1);
});
