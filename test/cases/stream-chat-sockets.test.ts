import { once } from 'node:events';
import { type ClientRequest, type IncomingMessage, request } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import Fastify from 'fastify';
import { describe, expect, it, onTestFinished } from 'vitest';
import { callerSignal } from '../../src/http/caller-signal.js';
import { HEARTBEAT_MS, openSse } from '../../src/http/sse.js';
import { type Chat, eventsOf, inTurn, startChat } from '../support/chat.js';
import { assistant, user } from '../support/messages.js';
import { delta, finished } from '../support/model-stub.js';

/** A streamed chat over a real socket. */
interface Streamed {
  readonly sent: ClientRequest;
  readonly response: IncomingMessage;
  /** All text so far. */
  text(): string;
  /** Resolves when the text holds this many events, or the stream has ended. */
  events(count: number): Promise<void>;
}

async function open({ service }: Chat, body: object, headers: object = {}): Promise<Streamed> {
  const url = await service.app.listen({ port: 0, host: '127.0.0.1' });
  const sent = request(`${url}/agents/clerk/chat`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
  });
  sent.on('error', () => {});
  sent.end(JSON.stringify(body));
  const [response]: [IncomingMessage] = await once(sent, 'response').then(([first]) => [first]);
  let text = '';
  response.setEncoding('utf8');
  response.on('data', (piece: string) => {
    text += piece;
  });
  response.on('error', () => {});
  return {
    sent,
    response,
    text: () => text,
    async events(count) {
      while (eventsOf(text).length < count && !response.readableEnded) await sleep(5);
    },
  };
}

const tick = (i: number) => delta(`${i} `);

describe('the client of a streamed chat', () => {
  it('gets the headers at once, which ask for no buffering, and each event when it happens', async () => {
    const chat = await startChat(
      inTurn({ delayMs: 400, stream: [delta('Hel'), 400, delta('lo'), 400, finished()] }),
    );
    const at = performance.now();
    const stream = await open(chat, { message: 'Hello', stream: true }, { 'accept-encoding': 'gzip, br' });
    await stream.events(1);
    expect(performance.now() - at).toBeLessThan(390);
    expect(stream.response.statusCode).toBe(200);
    expect(stream.response.headers).toMatchObject({
      'content-type': 'text/event-stream; charset=utf-8',
      'cache-control': 'no-cache, no-transform',
      'x-accel-buffering': 'no',
      'x-request-id': expect.any(String),
    });
    expect(stream.response.headers).not.toHaveProperty('content-encoding');
    expect(stream.response.headers).not.toHaveProperty('content-length');
    expect(eventsOf(stream.text()).map(({ event }) => event)).toEqual(['session-opened']);
    await stream.events(2);
    expect(eventsOf(stream.text()).at(-1)).toEqual({ event: 'message-delta', data: { text: 'Hel' } });
    await once(stream.response, 'end');
    expect(eventsOf(stream.text()).at(-1)?.event).toBe('turn-completed');
  });

  it('that goes away ends the request to the endpoint; its message stays, and the key goes on', async () => {
    const chat = await startChat(
      inTurn({ stream: [delta('a'), 50, delta('b')], hang: true }, { content: 'Yes.' }),
    );
    const body = { message: 'KEEP-1', stream: true };
    const stream = await open(chat, body, { 'idempotency-key': 'k' });
    await stream.events(3);
    const { sessionId = '' } = eventsOf(stream.text())[0]?.data ?? {};
    const leftAt = performance.now();
    stream.sent.destroy();
    expect((await chat.model.server.peerClosed(0)) - leftAt).toBeLessThan(1_000);
    expect(await chat.service.messages(sessionId)).toEqual([user('KEEP-1')]);
    const idle = () => chat.service.sql('SELECT turn_owner AS owner FROM sessions WHERE turn_owner IS NULL');
    while (idle().length === 0) await sleep(10);
    const again = await chat.say(body, 'k');
    expect(eventsOf(again.text).at(-1)?.data).toMatchObject({ sessionId, message: assistant('Yes.') });
    expect(await chat.service.messages(sessionId)).toEqual([user('KEEP-1'), assistant('Yes.')]);
  });

  it('that goes away without having asked for a stream ends it too', async () => {
    const chat = await startChat(inTurn({ hang: true }, { content: 'Yes.' }));
    const url = await chat.service.app.listen({ port: 0, host: '127.0.0.1' });
    const sent = request(`${url}/agents/clerk/chat`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'idempotency-key': 'k' },
    });
    sent.on('error', () => {});
    sent.end('{"message":"KEEP-1"}');
    while (chat.model.bodies.length === 0) await sleep(5);
    const leftAt = performance.now();
    sent.destroy();
    expect((await chat.model.server.peerClosed(0)) - leftAt).toBeLessThan(1_000);
    let again = await chat.say({ message: 'KEEP-1' }, 'k');
    while (again.status === 409) again = await chat.say({ message: 'KEEP-1' }, 'k');
    expect(await chat.service.messages(again.body.sessionId)).toEqual([user('KEEP-1'), assistant('Yes.')]);
  });

  it('that stays reads all of it, however long ago its request was read', async () => {
    const ticks = Array.from({ length: 50 }, (_, i) => [tick(i), 60]).flat();
    const chat = await startChat(inTurn({ stream: [...ticks, finished(), '[DONE]'] }));
    const at = performance.now();
    const stream = await open(chat, { message: 'Count', stream: true });
    await once(stream.response, 'end');
    expect(performance.now() - at).toBeGreaterThan(2_900);
    const events = eventsOf(stream.text());
    const shown = events.flatMap(({ event, data }) => (event === 'message-delta' ? [data.text] : []));
    expect(shown).toHaveLength(50);
    expect(events.at(-1)).toMatchObject({
      event: 'turn-completed',
      data: { message: assistant(shown.join('')) },
    });
  });

  it('that reads slowly, or not at all, stops nobody else', async () => {
    const long = 'x'.repeat(200_000);
    const chat = await startChat(
      inTurn(
        { stream: [...Array.from({ length: 40 }, () => delta(long)), finished(), '[DONE]'] },
        { content: 'Yes.' },
      ),
    );
    const stream = await open(chat, { message: 'Long', stream: true });
    stream.response.pause();
    while (chat.model.bodies.length === 0) await sleep(5);
    expect((await chat.say({ message: 'Hello' })).status).toBe(200);
    stream.response.resume();
    await once(stream.response, 'end');
    expect(eventsOf(stream.text()).at(-1)?.data.message.content).toHaveLength(8_000_000);
  });
});

describe('an event stream with nothing to tell', () => {
  it('holds a comment every so often, until it ends', async () => {
    expect(HEARTBEAT_MS).toBeLessThanOrEqual(25_000);
    const app = Fastify();
    onTestFinished(() => app.close());
    app.get('/', async (_, reply) => {
      const stream = openSse(reply, 50);
      await sleep(400);
      stream.send({ event: 'late', data: '1', id: '7' });
      stream.end();
      stream.send({ event: 'too-late', data: '2' });
      return reply;
    });
    const url = await app.listen({ port: 0, host: '127.0.0.1' });
    const text = await (await fetch(url)).text();
    expect(text).toMatch(/^(: \n\n){4,8}id: 7\nevent: late\ndata: 1\n\n$/);
  });

  it('has its headers sent before there is anything in it', async () => {
    const app = Fastify();
    onTestFinished(() => app.close());
    app.get('/', async (_, reply) => {
      const stream = openSse(reply);
      await sleep(500);
      stream.end();
      return reply;
    });
    const url = await app.listen({ port: 0, host: '127.0.0.1' });
    const at = performance.now();
    const response = await fetch(url);
    expect(performance.now() - at).toBeLessThan(400);
    expect(await response.text()).toBe('');
  });
});

describe('the signal of a caller', () => {
  it('has fired for one that went away before anybody looked', async () => {
    const app = Fastify();
    onTestFinished(() => app.close());
    const seen = new Promise<boolean>((resolve) => {
      app.post('/', async (_, reply) => {
        while (!reply.raw.destroyed) await sleep(5);
        resolve(callerSignal(reply).aborted);
      });
    });
    const sent = request(await app.listen({ port: 0, host: '127.0.0.1' }), { method: 'POST' });
    sent.on('error', () => {});
    sent.end();
    await sleep(100);
    sent.destroy();
    expect(await seen).toBe(true);
  });
});
