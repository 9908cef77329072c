import type { Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { createEndpointProbe } from '../../src/llm/windows/endpoint-probe.js';
import { rawResponse } from '../support/raw-server.js';
import { startEndingServer } from './ending-proxy.js';
import { ask, clientFor, completed, endpoint, HELLO, serve, serveResponses } from './harness.js';

/** Long enough for thousands of connections, if there were any, in ms. */
const AFTERWARDS_MS = 300;
const NO_WAIT = { sleep: async () => {} };
const OK = rawResponse({ headers: { 'content-type': 'text/event-stream' }, body: HELLO });

type End = (socket: Socket) => void;
const ENDS: readonly (readonly [string, End, string])[] = [
  ['FIN', (socket) => socket.end(), 'other side closed'],
  ['FIN, a little later', (socket) => setTimeout(() => socket.end(), 20), 'other side closed'],
  ['half a status line', (socket) => socket.end('HTTP/1.1 200'), 'other side closed'],
  ['100 Continue', (socket) => socket.end('HTTP/1.1 100 Continue\r\n\r\n'), 'other side closed'],
];

describe.each(['http', 'https'])('a proxy that ends a tunnel for %s', (protocol) => {
  const base = `${protocol}://model.test/v1`;

  test.each(ENDS)('by %s is tried as often as there are retries', async (_name, end, why) => {
    const proxy = await startEndingServer(end);
    const environment = { HTTP_PROXY: proxy.url };
    const client = clientFor(base, { retries: 2 }, { environment, ...NO_WAIT });
    const result = await ask(client);
    await delay(AFTERWARDS_MS);
    expect(result).toMatchObject({
      outcome: {
        kind: 'unavailable',
        message: `The connection to the model endpoint failed: the proxy opened no tunnel (${why})`,
        status: null,
        retryAfterMs: null,
      },
      requests: 3,
    });
    expect(proxy.connections).toBe(3);
  });
});

test.each([true, false])('a proxy that ends each connection, having read first: %s', async (afterRequest) => {
  const proxy = await startEndingServer((socket) => socket.end(), { afterRequest });
  const client = clientFor('http://model.test', {}, { environment: { HTTP_PROXY: proxy.url } });
  const calls = await Promise.all([ask(client), ask(client)]);
  await delay(AFTERWARDS_MS);
  expect(calls.map(({ outcome, requests }) => [outcome.kind, requests])).toEqual([
    ['unavailable', 1],
    ['unavailable', 1],
  ]);
  expect(proxy.connections).toBe(2);
});

test('a cancelled call leaves nothing running, whatever its proxy does then', async () => {
  const proxy = await startEndingServer((socket) => setTimeout(() => socket.end(), 60));
  const client = clientFor('http://model.test', { retries: 2 }, { environment: { HTTP_PROXY: proxy.url } });
  const abort = new AbortController();
  const call = ask(client, abort.signal);
  await delay(30);
  abort.abort();
  expect((await call).outcome.kind).toBe('aborted');
  await delay(AFTERWARDS_MS);
  expect(proxy.connections).toBe(1);
});

test('a question beside the chat is asked once', async () => {
  const proxy = await startEndingServer((socket) => socket.end());
  const { probe } = createEndpointProbe(endpoint('http://model.test'), { HTTP_PROXY: proxy.url });
  const answer = await probe.get(new URL('http://model.test/v1/models'), AbortSignal.timeout(5_000));
  await delay(AFTERWARDS_MS);
  expect(answer).toEqual({
    kind: 'failed',
    cause: 'connection',
    message: 'the proxy opened no tunnel (other side closed)',
  });
  expect(proxy.connections).toBe(1);
  await probe.close();
});

describe('an endpoint that ends each connection', () => {
  test.each<[string, End, boolean]>([
    ['at once', (socket) => socket.end(), false],
    ['at once, by a reset', (socket) => socket.resetAndDestroy(), false],
    ['on the request', (socket) => socket.end(), true],
    ['in the middle of the head', (socket) => socket.end('HTTP/1.1 200 OK\r\nContent-Ty'), true],
    ['in the status line', (socket) => socket.end('HTTP/1.1 2'), true],
    ['after an early hint', (socket) => socket.end('HTTP/1.1 103 Early Hints\r\n\r\n'), true],
    ['after 100 Continue', (socket) => socket.end('HTTP/1.1 100 Continue\r\n\r\n'), true],
    ['by a reset in the middle of the head', resetAfter('HTTP/1.1 200 OK\r\nX'), true],
  ])('%s is asked as often as there are retries', async (_name, end, afterRequest) => {
    const server = await startEndingServer(end, { afterRequest });
    const result = await ask(clientFor(server.url, { retries: 2 }, NO_WAIT));
    await delay(AFTERWARDS_MS);
    expect(result).toMatchObject({ outcome: { kind: 'unavailable', status: null }, requests: 3 });
    expect(server.connections).toBe(3);
  });

  test('having kept it alive, and begun an answer: nothing is sent again for free', async () => {
    const server = await serve((connection, { index }) => {
      if (index === 0) connection.write(OK);
      else {
        connection.write('HTTP/1.1 200 OK\r\n');
        connection.end();
      }
    });
    const client = clientFor(server.url);
    expect((await ask(client)).outcome).toEqual(completed('Hello'));
    await delay(20);
    expect(await ask(client)).toMatchObject({ outcome: { kind: 'unavailable' }, requests: 1 });
    expect([server.requests.length, server.connectionCount]).toEqual([2, 1]);
  });
});

describe('before the answer', () => {
  const CONTINUE = 'HTTP/1.1 100 Continue\r\nX-From: proxy\r\n\r\n';

  test.each([
    [
      '100, 103, 100 and 102',
      `${CONTINUE}HTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\n${CONTINUE}HTTP/1.1 102 Processing\r\n\r\n`,
    ],
    ['100 Continue', CONTINUE],
    ['two of them', CONTINUE + CONTINUE],
    ['early hints', 'HTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\n'],
    ['102 Processing', 'HTTP/1.1 102 Processing\r\n\r\n'],
  ])('%s is skipped, in one piece with it and byte by byte', async (_name, interim) => {
    const server = await serve(async (connection, { index }) => {
      const whole = Buffer.concat([Buffer.from(interim), OK]);
      if (index % 2 === 0) {
        connection.write(whole);
        return;
      }
      for (const byte of whole.subarray(0, interim.length + 20)) {
        connection.write(Uint8Array.of(byte));
        await connection.pause(0);
      }
      connection.write(whole.subarray(interim.length + 20));
    });
    const client = clientFor(server.url);
    for (let call = 0; call < 4; call += 1) {
      expect(await ask(client)).toMatchObject({ outcome: completed('Hello'), requests: 1 });
      await delay(20);
    }
    expect([server.requests.length, server.connectionCount]).toEqual([4, 1]);
  });

  test('an answer that only mentions it is left as it is', async () => {
    const text = 'HTTP/1.1 100 Continue';
    const server = await serveResponses({ status: 400, body: JSON.stringify({ error: text }) });
    expect((await ask(clientFor(server.url))).outcome).toMatchObject({
      kind: 'bad_request',
      message: `The model endpoint answered 400: ${text}`,
    });
  });

  test.each(['Connection: upgrade\r\nUpgrade: h2c\r\n', ''])('a switch of protocols (%j)', async (how) => {
    const switching = `HTTP/1.1 101 Switching Protocols\r\n${how}\r\n`;
    const server = await startEndingServer((socket) => socket.write(switching));
    const result = await ask(clientFor(server.url, { retries: 2 }, NO_WAIT));
    expect(result).toMatchObject({
      outcome: {
        kind: 'protocol',
        message: 'The model endpoint switched to another protocol than HTTP (101), unasked',
        status: null,
      },
      requests: 1,
    });
    expect(server.connections).toBe(1);
  });
});

function resetAfter(bytes: string): End {
  return (socket) => {
    socket.write(bytes);
    setTimeout(() => socket.resetAndDestroy(), 20);
  };
}
