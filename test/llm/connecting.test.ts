import { createServer } from 'node:net';
import { expect, test } from 'vitest';
import { createCleaner } from '../../src/llm/redact.js';
import { transportFailure } from '../../src/llm/transport-failure.js';
import { rawResponse } from '../support/raw-server.js';
import { ask, clientFor, completed, EVENT_STREAM, HELLO, okJson, serve, serveResponses } from './harness.js';

const OK = { headers: EVENT_STREAM, body: HELLO };

/** A port that nobody listens on. */
async function unusedPort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  return typeof address === 'object' && address !== null ? address.port : 0;
}

test('localhost reaches a server that only listens on 127.0.0.1', async () => {
  const server = await serveResponses(OK);
  const client = clientFor(`http://localhost:${server.port}`);
  expect((await ask(client)).outcome).toEqual(completed('Hello'));
});

test('where every address of a name refuses, the message still says why', async () => {
  const port = await unusedPort();
  const { outcome } = await ask(clientFor(`http://localhost:${port}`));
  expect(outcome).toMatchObject({ kind: 'unavailable', status: null });
  expect(outcome).toHaveProperty('message', expect.stringMatching(/failed: connect ECONNREFUSED \S+$/));
});

test('of the errors of several addresses the first one is told', () => {
  const refused = (address: string) =>
    Object.assign(new Error(`connect ECONNREFUSED ${address}`), { code: 'ECONNREFUSED', syscall: 'connect' });
  const error = new AggregateError([refused('::1:9'), refused('127.0.0.1:9')]);
  expect(transportFailure(error, createCleaner([])).outcome).toEqual({
    kind: 'unavailable',
    message: 'The connection to the model endpoint failed: connect ECONNREFUSED ::1:9',
    status: null,
    retryAfterMs: null,
  });
});

test('headers above 16 KiB are refused for good', async () => {
  const server = await serveResponses({ ...OK, headers: { ...EVENT_STREAM, 'x-long': 'x'.repeat(20_000) } });
  expect(await ask(clientFor(server.url, { retries: 2 }))).toMatchObject({
    outcome: { kind: 'protocol', status: null },
    requests: 1,
  });
});

test('an event stream is read although none was asked for, once it has been refused', async () => {
  const server = await serve((connection, { index }) => {
    const refusal = { status: 400, body: '{"error":{"message":"no","param":"stream"}}' };
    connection.write(rawResponse(index === 0 ? refusal : index === 1 ? OK : { body: okJson('Hello') }));
  });
  const client = clientFor(server.url);
  expect(await ask(client)).toMatchObject({ outcome: completed('Hello'), requests: 2 });
  expect(await ask(client)).toMatchObject({ outcome: completed('Hello'), requests: 1 });
  expect(server.requests[1]?.body).not.toContain('"stream"');
});

test('calls at the same time do not wait for each other', async () => {
  const server = await serve(async (connection, { index }) => {
    await connection.pause(index === 0 ? 300 : 0);
    connection.write(rawResponse(OK));
  });
  const client = clientFor(server.url);
  const order: string[] = [];
  const first = ask(client).then(() => order.push('slow'));
  await new Promise((resolve) => setTimeout(resolve, 50));
  await Promise.all([first, ask(client).then(() => order.push('quick'))]);
  expect(order).toEqual(['quick', 'slow']);
});
