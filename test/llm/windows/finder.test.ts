import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { rawChunk, rawResponse } from '../../support/raw-server.js';
import { serve } from '../harness.js';
import { finderFor, raw, served, serveRoutes, windowOf } from './harness.js';

const LIST = 'GET /v1/models';
const vllm = (tokens: number, id = 'test-model') => ({
  object: 'list',
  data: [{ id, max_model_len: tokens }],
});
/** The list, and one for each kind of server. */
const REQUESTS_OF_A_MISS = 6;

describe('the order of belief', () => {
  it('configured, for the configured model only, without a request', async () => {
    const server = await serveRoutes({ [LIST]: vllm(8_192, 'other') });
    const finder = finderFor(server.url, { windowTokens: 5_000 });
    expect(await windowOf(finder, 'test-model')).toEqual({ tokens: 5_000, source: 'configured' });
    expect(server.requests).toHaveLength(0);
    expect(await windowOf(finder, 'other')).toEqual(served(8_192));
  });

  it('served before learned, learned before nothing', async () => {
    const server = await serveRoutes({ [LIST]: vllm(8_192, 'listed') });
    const finder = finderFor(server.url);
    for (const model of ['listed', 'unlisted']) {
      finder.refused(model, 4_000, { windowTokens: null, requestedTokens: null });
      finder.accepted(model, 3_000);
    }
    expect(await windowOf(finder, 'listed')).toEqual(served(8_192));
    expect(await windowOf(finder, 'unlisted')).toEqual({ tokens: 3_000, source: 'learned' });
    expect(await windowOf(finder, 'unknown')).toBeNull();
  });
});

describe('sharing', () => {
  it('asks once for all who ask at the same time', async () => {
    const server = await serveRoutes({ [LIST]: vllm(8_192) });
    const finder = finderFor(server.url);
    const answers = await Promise.all(Array.from({ length: 20 }, () => windowOf(finder, 'test-model')));
    expect(answers).toEqual(Array.from({ length: 20 }, () => served(8_192)));
    expect(server.requests).toHaveLength(1);
  });

  it('asks once in 5 minutes for what was found', async () => {
    const server = await serveRoutes({ [LIST]: vllm(8_192) });
    let time = 1_000;
    const finder = finderFor(server.url, {}, { now: () => time });
    await windowOf(finder, 'test-model');
    time += 5 * 60_000 - 1;
    await windowOf(finder, 'test-model');
    expect(server.requests).toHaveLength(1);
    time += 1;
    expect(await windowOf(finder, 'test-model')).toEqual(served(8_192));
    expect(server.requests).toHaveLength(2);
  });

  it('asks once in a minute for what was not found', async () => {
    const server = await serveRoutes({});
    let time = 0;
    const finder = finderFor(server.url, {}, { now: () => time });
    await Promise.all([windowOf(finder, 'test-model'), windowOf(finder, 'test-model')]);
    time += 60_000 - 1;
    await windowOf(finder, 'test-model');
    expect(server.requests).toHaveLength(REQUESTS_OF_A_MISS);
    time += 1;
    await windowOf(finder, 'test-model');
    expect(server.requests).toHaveLength(2 * REQUESTS_OF_A_MISS);
  });

  it('keeps models apart', async () => {
    const list = { data: [...vllm(1_024, 'a').data, ...vllm(2_048, 'b').data] };
    const server = await serveRoutes({ [LIST]: list });
    const finder = finderFor(server.url);
    expect(await Promise.all([windowOf(finder, 'a'), windowOf(finder, 'b')])).toEqual([
      served(1_024),
      served(2_048),
    ]);
    expect(server.requests).toHaveLength(2);
  });
});

describe('time', () => {
  it('is up after the limit when nothing answers, and every connection is given back', async () => {
    const server = await serve((connection) => connection.closed);
    const finder = finderFor(server.url, {}, { probeLimitMs: 400 });
    const started = performance.now();
    expect(await windowOf(finder, 'test-model')).toBeNull();
    const took = performance.now() - started;
    expect(took).toBeGreaterThan(350);
    expect(took).toBeLessThan(700);
    expect(server.requests).toHaveLength(REQUESTS_OF_A_MISS);
    for (let index = 0; index < REQUESTS_OF_A_MISS; index += 1) await server.peerClosed(index);
  });

  it('is 2 s by default', async () => {
    const server = await serve((connection) => connection.closed);
    const started = performance.now();
    expect(await windowOf(finderFor(server.url), 'test-model')).toBeNull();
    expect(performance.now() - started).toBeGreaterThan(1_900);
    expect(performance.now() - started).toBeLessThan(2_500);
  });

  it('is left for the others when only the list hangs, and the first to find a window ends the wait', async () => {
    const props = JSON.stringify({ default_generation_settings: { n_ctx: 4_096 } });
    const server = await serve(async (connection, { path }) => {
      if (path !== '/props') return connection.closed;
      // Time for the other requests to be sent.
      await connection.pause(100);
      connection.write(rawResponse({ body: props }));
    });
    const finder = finderFor(server.url, {}, { probeLimitMs: 1_000 });
    const started = performance.now();
    expect(await windowOf(finder, 'test-model')).toEqual(served(4_096));
    const took = performance.now() - started;
    expect(took).toBeGreaterThan(450);
    expect(took).toBeLessThan(800);
    // Nothing is left open behind the answer.
    expect(server.requests).toHaveLength(REQUESTS_OF_A_MISS);
    for (const { index } of server.requests.filter(({ path }) => path !== '/props'))
      await server.peerClosed(index, 300);
  });

  it('covers a body that never ends', async () => {
    const server = await serve(async (connection) => {
      connection.write('HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n');
      while (!connection.isClosed) {
        connection.write(rawChunk(' '));
        await connection.pause(20);
      }
    });
    const finder = finderFor(server.url, {}, { probeLimitMs: 300 });
    const started = performance.now();
    expect(await windowOf(finder, 'test-model')).toBeNull();
    expect(performance.now() - started).toBeLessThan(600);
  });

  it('is over for a caller whose signal fires, and for nobody else', async () => {
    const server = await serve(async (connection) => {
      await connection.pause(200);
      connection.write(rawResponse({ body: JSON.stringify(vllm(8_192)) }));
    });
    const finder = finderFor(server.url);
    const caller = new AbortController();
    const gone = finder.windowOf('test-model', caller.signal);
    const staying = windowOf(finder, 'test-model');
    const started = performance.now();
    caller.abort();
    expect(await gone).toBeNull();
    expect(performance.now() - started).toBeLessThan(50);
    expect(await staying).toEqual(served(8_192));
    expect(await finder.windowOf('test-model', caller.signal)).toBeNull();
    expect(server.requests).toHaveLength(1);
  });

  it('is over when the finder is closed, which then asks nothing any more', async () => {
    const server = await serve((connection) => connection.closed);
    const finder = finderFor(server.url);
    const open = windowOf(finder, 'test-model');
    await expect.poll(() => server.requests.length).toBe(1);
    const started = performance.now();
    await finder.close();
    expect(await open).toBeNull();
    expect(performance.now() - started).toBeLessThan(100);
    expect(await windowOf(finder, 'another')).toBeNull();
    expect(server.requests).toHaveLength(1);
  });
});

describe('answers of no use', () => {
  const page = '<html><body><h1>502 Bad Gateway</h1> max_model_len 8192</body></html>';
  it.each([
    ['404', { status: 404, body: JSON.stringify(vllm(8_192)) }],
    ['401', { status: 401, body: '{"error":{"message":"Incorrect API key provided"}}' }],
    ['500', { status: 500, body: '' }],
    ['HTML', { headers: { 'content-type': 'text/html' }, body: page }],
    ['half a document', { body: '{"data": [{"id": "test-model", "max_model_len": 8192' }],
    ['a number', { body: '8192' }],
    ['null', { body: 'null' }],
    ['rows that are none', { body: '{"data": [null, 1, "test-model", [], {"id": 5, "max_model_len": 9}]}' }],
    ['an unknown compression', { headers: { 'content-encoding': 'zstd' }, body: JSON.stringify(vllm(1)) }],
    ['a broken compression', { headers: { 'content-encoding': 'gzip' }, body: 'not gzip' }],
  ])('%s', async (_name, response) => {
    const server = await serveRoutes({}, raw(response));
    expect(await windowOf(finderFor(server.url), 'test-model')).toBeNull();
    expect(server.requests).toHaveLength(REQUESTS_OF_A_MISS);
  });

  it('no server at all', async () => {
    const server = await serve(() => {});
    await server.stop();
    const started = performance.now();
    expect(await windowOf(finderFor(server.url), 'test-model')).toBeNull();
    expect(performance.now() - started).toBeLessThan(500);
  });

  it('a connection that breaks', async () => {
    const server = await serve((connection) => connection.reset());
    expect(await windowOf(finderFor(server.url), 'test-model')).toBeNull();
  });

  it('a redirect, which is not followed: the key stays where it belongs', async () => {
    const other = await serveRoutes({ [LIST]: vllm(8_192) });
    const server = await serveRoutes(
      {},
      raw({ status: 308, headers: { location: `${other.url}/v1/models` } }),
    );
    expect(await windowOf(finderFor(server.url), 'test-model')).toBeNull();
    expect(other.connectionCount).toBe(0);
  });

  it.each([
    [4 * 1024 * 1024, served(8_192)],
    [4 * 1024 * 1024 + 1, null],
  ])('a body of %i bytes', async (size, expected) => {
    const body = JSON.stringify(vllm(8_192)).padEnd(size);
    const server = await serveRoutes({ [LIST]: raw({ body }) });
    expect(await windowOf(finderFor(server.url), 'test-model')).toEqual(expected);
  });

  it('a small body that unpacks to a huge one', async () => {
    const body = gzipSync(JSON.stringify(vllm(8_192)).padEnd(64 * 1024 * 1024));
    const server = await serveRoutes({ [LIST]: raw({ headers: { 'content-encoding': 'gzip' }, body }) });
    expect(await windowOf(finderFor(server.url), 'test-model')).toBeNull();
  });
});

describe('the request', () => {
  it('is authorized as the chat is, and reads compressed answers and a byte order mark', async () => {
    const body = gzipSync(`\uFEFF\n${JSON.stringify(vllm(8_192))}`);
    const server = await serveRoutes({ [LIST]: raw({ headers: { 'content-encoding': 'gzip' }, body }) });
    expect(await windowOf(finderFor(server.url), 'test-model')).toEqual(served(8_192));
    const request = server.requests[0];
    expect(request?.headers['authorization']).toBe('Bearer test-key-1234567890');
    expect(request?.headers['accept']).toBe('application/json');
    expect(request?.headers['accept-encoding']).toBe('identity');
    expect(request?.headers['content-type']).toBeUndefined();
    expect(request?.body).toBe('');
  });

  it('has no authorization without a key', async () => {
    const server = await serveRoutes({ [LIST]: vllm(8_192) });
    await windowOf(finderFor(server.url, { apiKey: null }), 'test-model');
    expect(server.requests[0]?.headers['authorization']).toBeUndefined();
  });

  it('reuses its connections', async () => {
    const server = await serveRoutes({ [LIST]: vllm(8_192, 'a') });
    const finder = finderFor(server.url);
    for (const model of ['a', 'b', 'c']) await windowOf(finder, model);
    expect(server.requests).toHaveLength(1 + 2 * REQUESTS_OF_A_MISS);
    expect(server.connectionCount).toBeLessThanOrEqual(REQUESTS_OF_A_MISS);
  });
});
