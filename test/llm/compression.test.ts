import { setTimeout as delay } from 'node:timers/promises';
import { brotliCompressSync, constants, createGzip, deflateRawSync, deflateSync, gzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { rawChunk } from '../support/raw-server.js';
import {
  answerOf,
  ask,
  clientFor,
  completed,
  delta,
  EVENT_STREAM,
  events,
  HELLO,
  okJson,
  serve,
} from './harness.js';

const JSON_BODY = okJson('Hello');
/** Long, and hard to compress. */
const TEXT = Array.from({ length: 50_000 }, (_, i) => ((i * 2_654_435_761) % 2 ** 32).toString(36)).join(' ');
const LONG = okJson(TEXT);

describe.each([
  ['an event stream', EVENT_STREAM, HELLO],
  ['JSON', { 'content-type': 'application/json' }, JSON_BODY],
])('%s', (_name, type, text) => {
  const bytes = Buffer.from(text);
  const half = Math.floor(bytes.length / 2);
  const members = Buffer.concat([gzipSync(bytes.subarray(0, half)), gzipSync(bytes.subarray(half))]);

  test.each<[string, string, Uint8Array]>([
    ['none', 'none', bytes],
    ['a charset', 'utf-8', bytes],
    ['identity', 'Identity', bytes],
    ['gzip and identity', 'gzip, identity', gzipSync(bytes)],
    ['identity and x-gzip', 'identity,X-GZIP', gzipSync(bytes)],
    ['two codings', 'deflate, gzip', gzipSync(deflateSync(bytes))],
    ['gzip twice', 'gzip, gzip', gzipSync(gzipSync(bytes))],
    ['gzip that is none', 'gzip', bytes],
    ['deflate that is none', 'deflate', bytes],
    ['brotli that is none', 'br', bytes],
    ['deflate', 'deflate', deflateSync(bytes)],
    ['bare deflate', 'deflate', deflateRawSync(bytes)],
    ['deflate that is gzip', 'deflate', gzipSync(bytes)],
    ['brotli', 'br', brotliCompressSync(bytes)],
    ['gzip with stray bytes behind it', 'gzip', Buffer.concat([gzipSync(bytes), Buffer.from('stray')])],
    ['gzip with blanks behind it', 'gzip', Buffer.concat([gzipSync(bytes), Buffer.from('\r\n')])],
    ['gzip with zeros behind it', 'gzip', Buffer.concat([gzipSync(bytes), Buffer.alloc(9)])],
    ['gzip in two members', 'gzip', members],
    ['gzip in two members and stray bytes', 'gzip', Buffer.concat([members, Buffer.from('stray')])],
    ['deflate with stray bytes behind it', 'deflate', Buffer.concat([deflateSync(bytes), Buffer.from('x')])],
  ])('said to be %s (%s) is read', async (_how, coding, body) => {
    const { outcome } = await answerOf({ headers: { ...type, 'content-encoding': coding }, body });
    expect(outcome).toEqual(completed('Hello'));
  });
});

test('more than a chunk, with stray bytes behind it', async () => {
  const body = Buffer.concat([gzipSync(LONG), Buffer.from('\0\0stray')]);
  const { outcome } = await answerOf({ headers: { 'content-encoding': 'gzip' }, body });
  expect(outcome).toEqual(completed(TEXT));
});

/** Stray bytes send the reader through its members once more, by itself. */
const STRAY = Buffer.from('stray');
const damaged = (fromEnd: number) =>
  gzipSync(LONG).map((byte, i, all) => (i === all.length - fromEnd ? byte ^ 1 : byte));

test.each<[string, Uint8Array, string]>([
  ['of a wrong checksum', damaged(8), 'protocol'],
  ['of a wrong checksum, with stray bytes behind it', Buffer.concat([damaged(8), STRAY]), 'protocol'],
  ['of a wrong length, with stray bytes behind it', Buffer.concat([damaged(4), STRAY]), 'protocol'],
  [
    'of more members than are read twice, with stray bytes behind them',
    Buffer.concat([gzipSync(LONG), ...Array<Buffer>(1_000).fill(gzipSync(' ')), STRAY]),
    'protocol',
  ],
  ['cut', gzipSync(LONG).subarray(0, 2_000), 'incomplete'],
  ['broken in the middle', gzipSync(LONG).map((byte, i) => (i > 900 && i < 950 ? 0x55 : byte)), 'protocol'],
])('gzip that is %s is no reply', async (_name, body, kind) => {
  const { outcome } = await answerOf({ headers: { 'content-encoding': 'gzip' }, body });
  expect(outcome).toMatchObject({ kind, status: 200 });
});

test('the text of a compressed stream comes when it is sent, and a cancel closes it', async () => {
  const server = await serve(async (connection) => {
    connection.write(
      'HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ncontent-encoding: gzip\r\ntransfer-encoding: chunked\r\n\r\n',
    );
    const gzip = createGzip();
    gzip.on('data', (part: Buffer) => {
      connection.write(`${part.length.toString(16)}\r\n`);
      connection.write(part);
      connection.write('\r\n');
    });
    for (const text of ['one', 'two']) {
      gzip.write(events(delta(text)));
      gzip.flush(constants.Z_SYNC_FLUSH);
      await connection.pause(60);
    }
    await connection.closed;
    connection.write(rawChunk(''));
  });
  const abort = new AbortController();
  const pieces: string[] = [];
  const call = clientFor(server.url).complete({
    messages: [{ role: 'user', content: 'Hello' }],
    signal: abort.signal,
    onText: (text) => {
      pieces.push(text);
      if (pieces.length === 2) abort.abort();
    },
  });
  expect((await call).outcome.kind).toBe('aborted');
  expect(pieces).toEqual(['one', 'two']);
  await server.peerClosed(0, 500);
  await delay(20);
});

test('a compressed stream that stays open after its end does not hold the call up', async () => {
  const server = await serve(async (connection) => {
    const body = gzipSync(HELLO);
    connection.write(
      'HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ncontent-encoding: gzip\r\ntransfer-encoding: chunked\r\n\r\n',
    );
    connection.write(`${body.length.toString(16)}\r\n`);
    connection.write(body);
    connection.write('\r\n');
    await connection.closed;
  });
  expect((await ask(clientFor(server.url))).outcome).toEqual(completed('Hello'));
  await server.peerClosed(0, 1_000);
  await delay(20);
});
