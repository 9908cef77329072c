import { createServer } from 'node:net';
import { describe, expect, onTestFinished, test } from 'vitest';
import { createChatClient } from '../../src/llm/client.js';
import type { CallResult } from '../../src/llm/outcome.js';
import { rawChunk, rawResponse, rawStreamHead } from '../support/raw-server.js';
import { startBlackhole } from './blackhole.js';
import {
  answerOf,
  ask,
  clientFor,
  completed,
  delta,
  endpoint,
  events,
  finish,
  HELLO,
  serve,
  serveResponses,
} from './harness.js';

const NO_USAGE = { inputTokens: null, outputTokens: null };

async function timed(call: Promise<CallResult>): Promise<CallResult & { readonly ms: number }> {
  const start = performance.now();
  const result = await call;
  return { ...result, ms: performance.now() - start };
}

describe('the request', () => {
  test('holds what is needed and nothing else', async () => {
    const server = await serveResponses({ headers: { 'content-type': 'text/event-stream' }, body: HELLO });
    await ask(clientFor(`${server.url}/proxy/v1/?x=1`));
    const request = server.requests[0];
    expect(request).toMatchObject({ method: 'POST', path: '/proxy/v1/chat/completions?x=1' });
    expect(request?.body).toBe(
      '{"model":"test-model","messages":[{"role":"user","content":"Hello"}],"stream":true,"stream_options":{"include_usage":true}}',
    );
    expect(request?.headers).toEqual({
      host: `127.0.0.1:${server.port}`,
      connection: 'keep-alive',
      'content-type': 'application/json',
      accept: 'text/event-stream, application/json',
      'accept-encoding': 'identity',
      authorization: 'Bearer test-key-1234567890',
      'content-length': String(request?.body.length),
    });
  });

  test.each([null, ''])('has no Authorization header with the key %j', async (apiKey) => {
    const server = await serveResponses({ body: '{}' });
    await ask(clientFor(server.url, { apiKey }));
    expect(server.requests[0]?.headers).not.toHaveProperty('authorization');
  });

  test('has the cap and the model of the call before those of the settings', async () => {
    const server = await serveResponses({ body: '{}' });
    const client = clientFor(server.url, { maxOutputTokens: 100 });
    const { signal } = new AbortController();
    const messages = [{ role: 'user', content: 'x' }];
    await client.complete({ messages, signal });
    await client.complete({ messages, signal, model: 'other', maxOutputTokens: 200 });
    await client.complete({ messages, signal, maxOutputTokens: null });
    const bodies = server.requests.map((request): unknown => JSON.parse(request.body));
    expect(bodies).toMatchObject([
      { model: 'test-model', max_tokens: 100 },
      { model: 'other', max_tokens: 200 },
      { model: 'test-model' },
    ]);
    expect(bodies[2]).not.toHaveProperty('max_tokens');
  });

  test('has no lone surrogate in any string', async () => {
    const server = await serveResponses({ body: '{}' });
    const messages = [{ role: 'us\udc00er', content: 'half \ud83d, whole \u{1f600}' }];
    await clientFor(server.url, { model: 'm\ud800' }).complete({
      messages,
      signal: new AbortController().signal,
    });
    expect(server.requests[0]?.body).not.toMatch(/\\ud[89a-f]/i);
    expect(JSON.parse(server.requests[0]?.body ?? '')).toMatchObject({
      model: 'm\ufffd',
      messages: [{ role: 'us\ufffder', content: 'half \ufffd, whole \u{1f600}' }],
    });
  });
});

describe('a redirect', () => {
  test.each([301, 302, 307, 308])('%i is not followed, and the key stays here', async (status) => {
    const other = await serveResponses({ body: '{}' });
    const server = await serveResponses({
      status,
      headers: { location: `${other.url}/v1/chat/completions` },
    });
    const { outcome, requests } = await ask(clientFor(server.url, { retries: 2 }));
    expect(outcome).toEqual({
      kind: 'protocol',
      status,
      message: `The model endpoint answered ${status}, a redirect; redirects are not followed; set the base URL to ${other.url}/v1`,
    });
    expect([requests, server.requests.length, other.requests.length]).toEqual([1, 1, 0]);
  });

  test.each([
    [
      302,
      'https://sso.test/login?next=secret',
      ' to https://sso.test/login; redirects are not followed; check the base URL',
    ],
    [
      302,
      'https://user:secret@h.test/v2/chat/completions#x',
      '; redirects are not followed; set the base URL to https://h.test/v2',
    ],
    [
      307,
      '/api/v1/chat/completions',
      /; redirects are not followed; set the base URL to http:\/\/127\.0\.0\.1:\d+\/api\/v1$/,
    ],
    [303, 'ftp://h.test/x', '; redirects are not followed; check the base URL'],
    [300, undefined, '; redirects are not followed; check the base URL'],
    [304, 'http://[', '; redirects are not followed; check the base URL'],
  ])('%i to %s says what to do, and is not tried again on any advice', async (status, location, rest) => {
    const headers = {
      'x-should-retry': 'true',
      'retry-after': '0',
      ...(location === undefined ? {} : { location }),
    };
    const { outcome, requests } = await answerOf({ status, headers }, { retries: 2 });
    const start = `The model endpoint answered ${status}, a redirect`;
    expect(outcome).toMatchObject({ kind: 'protocol', status });
    const message = outcome.kind === 'ok' ? '' : outcome.message;
    expect(message.slice(0, start.length)).toBe(start);
    if (typeof rest === 'string') expect(message.slice(start.length)).toBe(rest);
    else expect(message).toMatch(rest);
    expect(requests).toBe(1);
  });
});

describe('the clocks', () => {
  test('first byte: no headers; the connection is closed', async () => {
    const server = await serve((connection) => connection.closed);
    const result = await timed(ask(clientFor(server.url, { firstByteTimeoutMs: 150, retries: 2 })));
    expect(result.outcome).toMatchObject({ kind: 'timeout', clock: 'first_byte', status: null });
    expect(result.requests).toBe(1);
    expect(result.ms).toBeGreaterThanOrEqual(120);
    expect(result.ms).toBeLessThan(400);
    await server.peerClosed(0, 500);
  });

  test.each([
    ['nothing', ''],
    ['comments and blank lines', ': ping\n\n\r\n'],
    ['empty events', 'data:\n\n'],
    ['pings as data', 'event: ping\ndata: {"type":"ping"}\n\n'],
  ])('silence: %s after the first delta', async (_name, noise) => {
    const server = await serve(async (connection) => {
      connection.write(rawStreamHead() + events(delta('Hel')));
      while (!connection.isClosed) {
        connection.write(noise);
        await connection.pause(20);
      }
    });
    const result = await timed(ask(clientFor(server.url, { silenceTimeoutMs: 150, retries: 2 })));
    expect(result.outcome).toMatchObject({ kind: 'timeout', clock: 'silence', status: 200 });
    expect(result.requests).toBe(1);
    expect(result.ms).toBeLessThan(500);
    await server.peerClosed(0, 500);
  });

  test.each([
    ['nothing', ''],
    ['comments and blank lines', ': OPENROUTER PROCESSING\n\n\r\n'],
  ])('first byte: headers at once and then %s', async (_name, noise) => {
    const server = await serve(async (connection) => {
      connection.write(rawStreamHead());
      while (!connection.isClosed) {
        connection.write(noise);
        await connection.pause(20);
      }
    });
    const limits = { firstByteTimeoutMs: 200, silenceTimeoutMs: 60, retries: 2 };
    const result = await timed(ask(clientFor(server.url, limits)));
    expect(result.outcome).toMatchObject({ kind: 'timeout', clock: 'first_byte', status: 200 });
    expect(result.requests).toBe(1);
    expect(result.ms).toBeGreaterThanOrEqual(170);
    expect(result.ms).toBeLessThan(500);
  });

  test('silence: a queue behind the headers may take longer than a pause in the reply', async () => {
    const server = await serve(async (connection) => {
      connection.write(rawStreamHead());
      await connection.pause(250);
      connection.write(HELLO);
      connection.end();
    });
    const { outcome } = await ask(clientFor(server.url, { silenceTimeoutMs: 100 }));
    expect(outcome).toEqual(completed('Hello'));
  });

  test('connect: a listening socket whose backlog is full', async () => {
    const port = await startBlackhole();
    const result = await timed(
      ask(
        clientFor(
          `http://127.0.0.1:${port}`,
          { connectTimeoutMs: 200, retries: 1 },
          { sleep: async () => {} },
        ),
      ),
    );
    expect(result).toMatchObject({
      outcome: { kind: 'timeout', clock: 'connect', status: null },
      requests: 2,
    });
    expect(result.ms).toBeGreaterThanOrEqual(380);
    expect(result.ms).toBeLessThan(1_200);
  });

  test('connect: a cancel does not wait for it', async () => {
    const port = await startBlackhole();
    const abort = new AbortController();
    setTimeout(() => abort.abort(), 80);
    const result = await timed(ask(clientFor(`http://127.0.0.1:${port}`), abort.signal));
    expect(result).toMatchObject({ outcome: { kind: 'aborted' }, requests: 1 });
    expect(result.ms).toBeLessThan(500);
  });

  test('silence: data, also reasoning, and the bytes of a JSON reply are life', async () => {
    const reasoning = JSON.stringify({ choices: [{ index: 0, delta: { reasoning: 'x' } }] });
    const bodies = [
      [rawStreamHead(), ...Array.from({ length: 12 }, () => events(reasoning)), HELLO],
      [
        rawStreamHead({ 'content-type': 'application/json' }),
        '{"choices":[{"message":{"content":"',
        ...'Hello',
        '"},',
        '"finish_reason"',
        ':"stop"}]}',
      ],
    ];
    for (const pieces of bodies) {
      const server = await serve(async (connection) => {
        for (const piece of pieces) {
          connection.write(piece);
          await connection.pause(50);
        }
        connection.end();
      });
      const { outcome } = await ask(clientFor(server.url, { silenceTimeoutMs: 200 }));
      expect(outcome).toEqual(completed('Hello'));
    }
  });

  test('silence: after the finish reason the reply counts', async () => {
    const server = await serve(async (connection) => {
      connection.write(rawStreamHead() + events(delta('Hello'), finish()));
      await connection.closed;
    });
    const { outcome } = await ask(clientFor(server.url, { silenceTimeoutMs: 100 }));
    expect(outcome).toEqual(completed('Hello'));
    await server.peerClosed(0, 500);
  });

  test('total: one that never stops talking', async () => {
    const server = await serve(async (connection) => {
      connection.write(rawStreamHead());
      while (!connection.isClosed) {
        connection.write(events(delta('la ', { usage: { prompt_tokens: 7, completion_tokens: 1 } })));
        await connection.pause(20);
      }
    });
    const result = await timed(ask(clientFor(server.url, { totalTimeoutMs: 200, retries: 2 })));
    expect(result.outcome).toMatchObject({ kind: 'timeout', clock: 'total', status: 200 });
    expect(result.usage).toEqual({ inputTokens: 7, outputTokens: 1 });
    expect(result.ms).toBeLessThan(500);
    await server.peerClosed(0, 500);
  });

  test('the status of a refusal counts although its text never ends', async () => {
    const server = await serve(async (connection) => {
      connection.write('HTTP/1.1 401 No\r\ncontent-length: 99\r\n\r\nbad key');
      await connection.closed;
    });
    const { outcome } = await ask(clientFor(server.url, { silenceTimeoutMs: 100 }));
    expect(outcome).toMatchObject({ kind: 'auth', status: 401 });
    await server.peerClosed(0, 500);
  });

  test('connect: a connection that is not made in time is tried again', async () => {
    // It accepts and never answers the TLS greeting, so the request is never on its way.
    const server = await serve(() => {});
    const url = server.url.replace('http:', 'https:');
    const result = await timed(
      ask(clientFor(url, { connectTimeoutMs: 100, retries: 1 }, { sleep: async () => {} })),
    );
    expect(result.outcome).toMatchObject({ kind: 'timeout', clock: 'connect', status: null });
    expect([result.requests, server.connectionCount]).toEqual([2, 2]);
    expect(result.ms).toBeGreaterThanOrEqual(150);
    expect(result.ms).toBeLessThan(500);
  });

  test('durations beyond the longest timer are no timeout', async () => {
    const server = await serveResponses({ headers: { 'content-type': 'text/event-stream' }, body: HELLO });
    const forever = {
      connectTimeoutMs: 3e9,
      firstByteTimeoutMs: 3e9,
      silenceTimeoutMs: 3e9,
      totalTimeoutMs: 3e9,
    };
    expect((await ask(clientFor(server.url, forever))).outcome).toEqual(completed('Hello'));
  });
});

describe('a cancel', () => {
  test('before the call: nothing is sent', async () => {
    const server = await serveResponses({ body: '{}' });
    const result = await ask(clientFor(server.url), AbortSignal.abort());
    expect(result).toMatchObject({
      outcome: { kind: 'aborted', status: null },
      requests: 0,
      usage: NO_USAGE,
    });
    expect(server.requests).toHaveLength(0);
  });

  test.each([
    ['while waiting for headers', ''],
    ['while waiting for the first event', rawStreamHead()],
    ['in the middle of the stream', rawStreamHead() + events(delta('Hel'))],
    ['in the middle of an error text', 'HTTP/1.1 500 No\r\ncontent-length: 99\r\n\r\noops'],
    ['in the middle of a JSON reply', `${rawStreamHead({ 'content-type': 'application/json' })}{"cho`],
  ])('%s: the connection is closed at once', async (_name, bytes) => {
    const server = await serve(async (connection) => {
      connection.write(bytes);
      await connection.closed;
    });
    const abort = new AbortController();
    const call = ask(clientFor(server.url, { retries: 2 }), abort.signal);
    await new Promise((resolve) => setTimeout(resolve, 80));
    const cancelledAt = performance.now();
    abort.abort(new Error('a reason'));
    const { outcome, requests } = await call;
    expect(outcome.kind).toBe('aborted');
    expect(requests).toBe(1);
    expect(performance.now() - cancelledAt).toBeLessThan(50);
    expect((await server.peerClosed(0)) - cancelledAt).toBeLessThan(100);
  });

  test('during the backoff: ends at once, no second request', async () => {
    const server = await serveResponses({ status: 503, headers: { 'retry-after': '30' } });
    const abort = new AbortController();
    const call = timed(ask(clientFor(server.url, { retries: 2 }), abort.signal));
    setTimeout(() => abort.abort(), 100);
    const result = await call;
    expect(result.outcome.kind).toBe('aborted');
    expect(result.ms).toBeLessThan(300);
    expect([result.requests, server.requests.length]).toEqual([1, 1]);
  });

  test('while connecting', async () => {
    const server = await serve(() => {});
    const abort = new AbortController();
    const call = timed(ask(clientFor(server.url.replace('http:', 'https:')), abort.signal));
    setTimeout(() => abort.abort(), 50);
    const result = await call;
    expect(result.outcome.kind).toBe('aborted');
    expect(result.ms).toBeLessThan(200);
  });

  test('by closing the client', async () => {
    const server = await serve((connection) => connection.closed);
    const client = createChatClient(endpoint(server.url, { retries: 2 }));
    const call = ask(client);
    await new Promise((resolve) => setTimeout(resolve, 50));
    await client.close();
    expect((await call).outcome.kind).toBe('aborted');
    expect(await ask(client)).toMatchObject({ outcome: { kind: 'aborted' }, requests: 0 });
    await server.peerClosed(0);
  });

  test('leaves no listener on the signal behind', async () => {
    const server = await serveResponses({ status: 503 });
    const client = clientFor(server.url, { retries: 2 }, { sleep: async () => {} });
    const { signal } = new AbortController();
    let added = 0;
    const add = signal.addEventListener.bind(signal);
    const remove = signal.removeEventListener.bind(signal);
    signal.addEventListener = (...args: Parameters<typeof add>) => {
      added += 1;
      add(...args);
    };
    signal.removeEventListener = (...args: Parameters<typeof remove>) => {
      added -= 1;
      remove(...args);
    };
    await ask(client, signal);
    expect(added).toBe(0);
  });
});

describe('the connection', () => {
  test('nobody listens', async () => {
    const server = createServer().listen(0, '127.0.0.1');
    await new Promise((resolve) => server.once('listening', resolve));
    const address = server.address();
    const port = typeof address === 'object' && address !== null ? address.port : 0;
    await new Promise((resolve) => server.close(resolve));
    expect((await ask(clientFor(`http://127.0.0.1:${port}`))).outcome).toEqual({
      kind: 'unavailable',
      message: `The connection to the model endpoint failed: connect ECONNREFUSED 127.0.0.1:${port}`,
      status: null,
      retryAfterMs: null,
    });
  });

  test('a name that does not exist is looked up twice at most', async () => {
    const client = clientFor('http://no..such.host', { retries: 5 }, { sleep: async () => {} });
    const { outcome, requests } = await ask(client);
    expect(outcome).toMatchObject({ kind: 'unavailable', status: null });
    expect(requests).toBe(2);
  });

  test('an answer that is not HTTP is not asked for again', async () => {
    const server = await serve((connection) => connection.write('SSH-2.0-OpenSSH\r\n'));
    const { outcome, requests } = await ask(clientFor(server.url, { retries: 2 }));
    expect(outcome).toMatchObject({ kind: 'protocol', status: null });
    expect(requests).toBe(1);
  });

  test('plain HTTP where TLS is expected is not asked for again', async () => {
    const server = createServer((socket) => {
      socket.on('error', () => {});
      socket.end('HTTP/1.1 400 Bad Request\r\n\r\n');
    }).listen(0, '127.0.0.1');
    onTestFinished(() => void server.close());
    await new Promise((resolve) => server.once('listening', resolve));
    const address = server.address();
    const port = typeof address === 'object' && address !== null ? address.port : 0;
    const { outcome, requests } = await ask(clientFor(`https://127.0.0.1:${port}`, { retries: 2 }));
    expect(outcome).toMatchObject({ kind: 'protocol', status: null });
    expect(requests).toBe(1);
  });

  test.each(['line\nbreak-secret', 'secret\0', 'secret\u0100', 'secret\x7f'])(
    'no client is made with the key %j, which cannot be a header',
    (apiKey) => {
      const create = () => createChatClient(endpoint('http://127.0.0.1:1', { apiKey }));
      expect(create).toThrow(/^The API key of a model endpoint holds a character that no header can have/);
      expect(create).not.toThrow(/secret/);
    },
  );

  test.each(['end', 'reset'] as const)(
    'a first connection that is lost (%s) before any byte',
    async (way) => {
      const server = await serve((connection) => connection[way]());
      const { outcome, requests } = await ask(clientFor(server.url));
      expect(outcome).toMatchObject({ kind: 'unavailable', status: null });
      // It was no kept-alive connection, so there is no free second request.
      expect([requests, server.requests.length]).toEqual([1, 1]);
    },
  );

  test('an error text without end is not read to the end', async () => {
    const server = await serve(async (connection) => {
      connection.write('HTTP/1.1 500 No\r\ncontent-type: text/plain\r\n\r\n');
      while (!connection.isClosed) {
        connection.write('oops '.repeat(2_000));
        await connection.pause(0);
      }
    });
    const { outcome } = await ask(clientFor(server.url));
    expect(outcome).toMatchObject({ kind: 'unavailable', status: 500 });
    await server.peerClosed(0, 500);
  });

  test('is kept when the stream ends soon after [DONE], and after a refusal', async () => {
    const server = await serve(async (connection, { index }) => {
      if (index % 2 === 1) {
        connection.write(rawResponse({ status: 400, body: '{"error":"no"}' }));
        return;
      }
      const head = 'HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n';
      connection.write(head + rawChunk(HELLO));
      await connection.pause(30);
      connection.write(rawChunk(': bye\n\n') + rawChunk(''));
    });
    const client = clientFor(server.url);
    for (let call = 0; call < 6; call += 1) {
      expect((await ask(client)).outcome.kind).toBe(call % 2 === 0 ? 'ok' : 'bad_request');
      await new Promise((resolve) => setTimeout(resolve, 60));
    }
    expect(server.connectionCount).toBe(1);
  });

  test('an idle connection that the server closes: 20 calls in a row', async () => {
    const server = await serve(async (connection, { index }) => {
      connection.write(rawResponse({ headers: { 'content-type': 'text/event-stream' }, body: HELLO }));
      // At once, or just when the next request is on its way.
      await connection.pause(index % 5);
      connection.end();
    });
    const client = clientFor(server.url);
    for (let call = 0; call < 20; call += 1) {
      const { outcome } = await ask(client);
      expect(outcome).toEqual(completed('Hello'));
      await new Promise((resolve) => setTimeout(resolve, call % 5));
    }
    expect(server.requests).toHaveLength(20);
  });

  test.each(['end', 'reset'] as const)(
    'a kept-alive connection that is lost (%s) on the next request',
    async (way) => {
      const server = await serve((connection, { connection: number, index }) => {
        if (number === 0 && index === 1) connection[way]();
        else connection.write(rawResponse({ headers: { 'content-type': 'text/event-stream' }, body: HELLO }));
      });
      const failures: unknown[] = [];
      const client = clientFor(server.url, {}, { onFailure: (failure) => failures.push(failure) });
      expect(await ask(client)).toMatchObject({ outcome: { kind: 'ok' }, requests: 1 });
      await new Promise((resolve) => setTimeout(resolve, 20));
      // With no retries configured: this one is free, and it is counted.
      expect(await timed(ask(client))).toMatchObject({ outcome: { kind: 'ok' }, requests: 2 });
      expect(server.connectionCount).toBe(2);
      expect(failures).toMatchObject([{ kind: 'unavailable', requests: 1, retryInMs: 0 }]);
    },
  );
});
