import { describe, expect, test, vi } from 'vitest';
import { createChatClient } from '../../src/llm/client.js';
import { proxiesFor } from '../../src/llm/proxies.js';
import { createEndpointProbe } from '../../src/llm/windows/endpoint-probe.js';
import { rawChunk, rawResponse, rawStreamHead } from '../support/raw-server.js';
import { startBlackhole } from './blackhole.js';
import { startConnectProxy } from './connect-proxy.js';
import {
  ask,
  clientFor,
  completed,
  delta,
  EVENT_STREAM,
  endpoint,
  events,
  HELLO,
  serve,
  serveResponses,
} from './harness.js';

const OK = { headers: EVENT_STREAM, body: HELLO };

describe('which proxy', () => {
  const chosen = (url: string, environment: Record<string, string>) => {
    const proxies = proxiesFor(new URL(url), environment);
    return proxies && [proxies.httpProxy, proxies.httpsProxy, proxies.noProxy];
  };

  test.each<[string, Record<string, string>, readonly string[] | null]>([
    ['none', {}, null],
    ['an empty one', { HTTP_PROXY: '', https_proxy: ' ' }, null],
    ['upper case', { HTTP_PROXY: 'http://p:1' }, ['http://p:1/', '', '']],
    [
      'lower case counts first',
      { http_proxy: 'http://p:1', HTTP_PROXY: 'http://q:1' },
      ['http://p:1/', '', ''],
    ],
    [
      'both kinds',
      { HTTP_PROXY: 'http://p:1', HTTPS_PROXY: 'https://q:2' },
      ['http://p:1/', 'https://q:2/', ''],
    ],
    ['without a scheme', { HTTPS_PROXY: 'p:3128' }, ['', 'http://p:3128/', '']],
    ['exceptions', { HTTP_PROXY: 'p', NO_PROXY: 'a.test, .b.test' }, ['http://p/', '', 'a.test, .b.test']],
    ['all excepted, among others', { HTTP_PROXY: 'p', NO_PROXY: 'a.test,*' }, ['http://p/', '', '*']],
  ])('%s', (_name, environment, proxies) => {
    expect(chosen('http://model.test/v1', environment)).toEqual(proxies);
  });

  test.each([
    'http://localhost:11434',
    'http://LOCALHOST',
    'http://a.localhost:1',
    'http://127.0.0.1:8080',
    'https://127.9.8.7',
    'http://[::1]:1234',
  ])('%s is reached directly', (url) => {
    expect(chosen(url, { HTTP_PROXY: 'p:1', HTTPS_PROXY: 'p:1' })).toBeNull();
  });

  test.each(['http://localhost.test', 'http://127.example.com', 'http://[::2]', 'http://10.0.0.1'])(
    '%s is not loopback',
    (url) => {
      expect(chosen(url, { HTTP_PROXY: 'p:1' })).not.toBeNull();
    },
  );

  test.each(['http://', 'socks5://p:1', 'ftp://p', 'http://a b', 'http://u:%zz@p', 'http://%:p@p'])(
    '%j is refused by its name',
    (address) => {
      const create = () =>
        createChatClient(endpoint('http://model.test'), { environment: { HTTPS_PROXY: address } });
      expect(create).toThrow('HTTPS_PROXY must be the http(s) address of a proxy');
    },
  );
});

describe('a request through a proxy', () => {
  test('is tunnelled, plain http too, with the credentials of the proxy, and keeps its connection', async () => {
    const server = await serve((connection) => {
      connection.write(
        'HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n',
      );
      connection.write(rawChunk(HELLO) + rawChunk(''));
    });
    const proxy = await startConnectProxy(server.port);
    const client = clientFor(
      'http://model.test/v1',
      {},
      {
        environment: { HTTP_PROXY: proxy.url.replace('//', '//user:pass%20word@') },
      },
    );
    expect((await ask(client)).outcome).toEqual(completed('Hello'));
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect((await ask(client)).outcome).toEqual(completed('Hello'));
    expect(proxy.targets).toEqual(['model.test:80']);
    expect(proxy.credentials).toEqual([`Basic ${Buffer.from('user:pass word').toString('base64')}`]);
    expect(proxy.plainRequests).toEqual([]);
    expect(server.requests.map(({ path, headers }) => [path, headers['host']])).toEqual([
      ['/v1/chat/completions', 'model.test'],
      ['/v1/chat/completions', 'model.test'],
    ]);
    expect(server.requests[0]?.headers).not.toHaveProperty('proxy-authorization');
  });

  test('https goes through the proxy for https', async () => {
    const [plain, secure] = [await startConnectProxy(1), await startConnectProxy(1, { status: 502 })];
    const client = clientFor(
      'https://model.test/v1',
      {},
      {
        environment: { HTTP_PROXY: plain.url, HTTPS_PROXY: secure.url },
      },
    );
    expect((await ask(client)).outcome).toMatchObject({ kind: 'unavailable' });
    expect([plain.targets, secure.targets]).toEqual([[], ['model.test:443']]);
  });

  test('loopback and excepted hosts are reached directly', async () => {
    const server = await serveResponses(OK);
    const proxy = await startConnectProxy(server.port);
    const environment = { HTTP_PROXY: proxy.url, NO_PROXY: 'excepted.invalid' };
    expect((await ask(clientFor(server.url, {}, { environment }))).outcome).toEqual(completed('Hello'));
    const excepted = clientFor('http://excepted.invalid', {}, { environment });
    expect((await ask(excepted)).outcome).toMatchObject({ kind: 'unavailable', status: null });
    expect(proxy.targets).toEqual([]);
  });

  test.each<[string, string, boolean]>([
    ['the host', 'model.invalid', true],
    ['the domain above it', '.invalid', true],
    ['its port', 'model.invalid:80', true],
    ['another port', 'model.invalid:81', false],
    ['another host that ends like it', 'el.invalid', false],
    ['everything', 'x.invalid, *', true],
  ])('an exception for %s (%s) makes it direct: %s', async (_name, exception, isDirect) => {
    const server = await serveResponses(OK);
    const proxy = await startConnectProxy(server.port);
    const environment = { http_proxy: proxy.url, NO_PROXY: exception };
    const { outcome } = await ask(clientFor('http://model.invalid', {}, { environment }));
    // A name that is never found: without the proxy nothing answers.
    expect(outcome.kind).toBe(isDirect ? 'unavailable' : 'ok');
    expect(proxy.targets).toEqual(isDirect ? [] : ['model.invalid:80']);
  });

  test('a proxy that cannot be connected to, as behind a firewall, is up to the connect clock', async () => {
    const port = await startBlackhole();
    const start = performance.now();
    const environment = { HTTP_PROXY: `http://127.0.0.1:${port}` };
    const client = clientFor('http://model.test', { connectTimeoutMs: 200 }, { environment });
    expect((await ask(client)).outcome).toMatchObject({ kind: 'timeout', clock: 'connect' });
    expect(performance.now() - start).toBeLessThan(1_000);
  });

  test('questions beside the chat go through it too', async () => {
    const server = await serveResponses({ body: '{"data":[]}' });
    const proxy = await startConnectProxy(server.port);
    const asking = createEndpointProbe(endpoint('http://model.test/v1'), { HTTP_PROXY: proxy.url });
    const answer = await asking.probe.get(asking.urls.models, new AbortController().signal);
    await asking.probe.close();
    expect(answer).toMatchObject({ kind: 'answer', status: 200 });
    expect(proxy.targets).toEqual(['model.test:80']);
    expect(server.requests.map(({ path }) => path)).toEqual(['/v1/models']);
  });

  test.each([502, 403, 504])('a proxy that refuses (%i) is asked once more, no oftener', async (status) => {
    const proxy = await startConnectProxy(1, { status });
    const client = clientFor(
      'http://model.test',
      { retries: 5 },
      {
        environment: { HTTP_PROXY: proxy.url },
        sleep: async () => {},
      },
    );
    expect(await ask(client)).toEqual({
      outcome: {
        kind: 'unavailable',
        message: `The proxy answered ${status} instead of opening a connection to the model endpoint`,
        status: null,
        retryAfterMs: null,
      },
      requests: 2,
      usage: { inputTokens: null, outputTokens: null },
    });
    expect(proxy.targets).toEqual(['model.test:80', 'model.test:80']);
  });

  test('a proxy that wants other credentials is not asked again, and its password is not shown', async () => {
    const proxy = await startConnectProxy(1, { status: 407 });
    const client = clientFor(
      'http://model.test',
      { retries: 2 },
      {
        environment: { HTTP_PROXY: proxy.url.replace('//', '//user:secret-word@') },
      },
    );
    const result = await ask(client);
    expect(result).toMatchObject({
      outcome: { kind: 'auth', message: 'The proxy asks for credentials (407)', status: null },
      requests: 1,
    });
  });

  test('an endpoint that repeats the password of the proxy', async () => {
    const server = await serveResponses({ status: 400, body: '{"error":"you sent user:secret word"}' });
    const proxy = await startConnectProxy(server.port);
    const client = clientFor(
      'http://model.test',
      {},
      {
        environment: { HTTP_PROXY: proxy.url.replace('//', '//user:secret%20word@') },
      },
    );
    expect((await ask(client)).outcome).toMatchObject({
      message: 'The model endpoint answered 400: you sent user:[REDACTED]',
    });
  });

  test('a proxy that nobody listens on', async () => {
    const proxy = await startConnectProxy(1);
    const unused = proxy.url.replace(/\d+$/, '1');
    const client = clientFor('http://model.test', {}, { environment: { HTTP_PROXY: unused } });
    expect((await ask(client)).outcome).toEqual({
      kind: 'unavailable',
      message: 'The connection to the model endpoint failed: connect ECONNREFUSED 127.0.0.1:1',
      status: null,
      retryAfterMs: null,
    });
  });

  test('the connect clock covers a proxy that never answers; the others run as without one', async () => {
    const silent = await startConnectProxy(1, { silent: true });
    const start = performance.now();
    const stuck = clientFor(
      'http://model.test',
      { connectTimeoutMs: 150 },
      {
        environment: { HTTP_PROXY: silent.url },
      },
    );
    expect((await ask(stuck)).outcome).toMatchObject({ kind: 'timeout', clock: 'connect' });
    expect(performance.now() - start).toBeLessThan(500);

    const server = await serve((connection, { index }) => {
      connection.write(index === 0 ? rawStreamHead() + events(delta('x')) : '');
      return connection.closed;
    });
    const proxy = await startConnectProxy(server.port);
    const client = clientFor(
      'http://model.test',
      { firstByteTimeoutMs: 150, silenceTimeoutMs: 150 },
      {
        environment: { HTTP_PROXY: proxy.url },
      },
    );
    expect((await ask(client)).outcome).toMatchObject({ kind: 'timeout', clock: 'silence' });
    expect((await ask(client)).outcome).toMatchObject({ kind: 'timeout', clock: 'first_byte' });
    await server.peerClosed(1, 500);
  });

  test('a proxy that never answers does not keep the connection', async () => {
    const proxy = await startConnectProxy(1, { silent: true });
    const environment = { HTTP_PROXY: proxy.url };
    const { outcome } = await ask(clientFor('http://model.test', { connectTimeoutMs: 50 }, { environment }));
    expect(outcome).toMatchObject({ kind: 'timeout', clock: 'connect' });
    expect(proxy.openConnections).toBe(1);
    await vi.waitFor(() => expect(proxy.openConnections).toBe(0), { timeout: 5_000, interval: 50 });
  });

  test('a cancel ends it at once, on both sides of the proxy', async () => {
    const server = await serve((connection) => connection.closed);
    const proxy = await startConnectProxy(server.port);
    const abort = new AbortController();
    const client = clientFor('http://model.test', { retries: 2 }, { environment: { HTTP_PROXY: proxy.url } });
    const call = ask(client, abort.signal);
    setTimeout(() => abort.abort(), 80);
    expect(await call).toMatchObject({ outcome: { kind: 'aborted' }, requests: 1 });
    await server.peerClosed(0, 500);
  });

  test('a refusal, a retry and a kept-alive connection that was lost work as without one', async () => {
    const server = await serve((connection, { index }) => {
      if (index === 0) connection.write(rawResponse({ status: 503 }));
      else if (index === 1) connection.reset();
      else connection.write(rawResponse(OK));
    });
    const proxy = await startConnectProxy(server.port);
    const client = clientFor(
      'http://model.test',
      { retries: 2 },
      {
        environment: { HTTP_PROXY: proxy.url },
        sleep: async () => {},
      },
    );
    expect(await ask(client)).toMatchObject({ outcome: completed('Hello'), requests: 3 });
    expect(server.requests).toHaveLength(3);
  });
});
