import { request as httpRequest } from 'node:http';
import { connect } from 'node:net';
import { describe, expect, it } from 'vitest';
import { ERROR_CATALOGUE, type ErrorCode } from '../../src/errors.js';
import { user } from '../support/messages.js';
import { sharedService, startService } from '../support/service.js';

const known = (code: string): code is ErrorCode => code in ERROR_CATALOGUE;

describe('an error', () => {
  const shared = sharedService();

  it('is problem details, with the id of the request', async () => {
    const service = await startService();
    const { headers, body } = await service.call('GET', '/sessions/none');
    expect(headers['content-type']).toBe('application/problem+json; charset=utf-8');
    expect(body).toEqual({
      type: 'urn:compactd:problem:session-not-found',
      title: 'There is no such session',
      status: 404,
      detail: 'There is no session none',
      instance: headers['x-request-id'],
      code: 'SESSION_NOT_FOUND',
      retryable: false,
    });
  });

  it.each([
    ['GET', '/nope', undefined, {}, 404, 'ROUTE_NOT_FOUND', undefined],
    ['PUT', '/sessions/s', {}, {}, 404, 'ROUTE_NOT_FOUND', undefined],
    ['DELETE', '/sessions/s/messages/0', undefined, {}, 404, 'ROUTE_NOT_FOUND', undefined],
    ['GET', '/sessions/%zz', undefined, {}, 400, 'VALIDATION_FAILED', ''],
    ['GET', '/sessions/a%00b', undefined, {}, 400, 'VALIDATION_FAILED', '/id'],
    ['GET', '/sessions/a%20b', undefined, {}, 400, 'VALIDATION_FAILED', '/id'],
    ['GET', `/sessions/${'a'.repeat(129)}`, undefined, {}, 400, 'VALIDATION_FAILED', '/id'],
    ['POST', '/sessions', '{', {}, 400, 'VALIDATION_FAILED', ''],
    [
      'POST',
      '/sessions',
      'a=1',
      { 'content-type': 'application/x-www-form-urlencoded' },
      415,
      'UNSUPPORTED_MEDIA_TYPE',
      undefined,
    ],
    ['POST', '/sessions', '{}', { 'content-type': 'text/plain' }, 415, 'UNSUPPORTED_MEDIA_TYPE', undefined],
    [
      'POST',
      '/sessions',
      '\x1f\x8b',
      { 'content-encoding': 'gzip' },
      415,
      'UNSUPPORTED_MEDIA_TYPE',
      undefined,
    ],
    ['POST', '/sessions', { title: 'a\0b' }, {}, 400, 'VALIDATION_FAILED', '/title'],
    ['POST', '/sessions', { id: 'a/b' }, {}, 400, 'VALIDATION_FAILED', '/id'],
    ['POST', '/sessions', '{"metadata":{"a":{"n":1e400}}}', {}, 400, 'VALIDATION_FAILED', '/metadata'],
    [
      'POST',
      '/sessions',
      `{"metadata":${'{"a":'.repeat(70)}1${'}'.repeat(70)}}`,
      {},
      400,
      'VALIDATION_FAILED',
      '/metadata',
    ],
    [
      'POST',
      '/sessions/none/compact',
      { instructions: 'a\0' },
      {},
      400,
      'VALIDATION_FAILED',
      '/instructions',
    ],
    [
      'POST',
      '/sessions/none/compact',
      { instructions: 'a'.repeat(20_000) },
      {},
      400,
      'VALIDATION_FAILED',
      '/instructions',
    ],
    ['POST', '/sessions/none/compact', { keepRecent: -1 }, {}, 400, 'VALIDATION_FAILED', '/keepRecent'],
    ['POST', '/sessions/none/compact', { keepRecent: 1.5 }, {}, 400, 'VALIDATION_FAILED', '/keepRecent'],
    ['POST', '/sessions/none/compact', { compactCount: 100 }, {}, 400, 'VALIDATION_FAILED', '/compactCount'],
    ['POST', '/sessions/none/compact', { dryRun: 'yes' }, {}, 400, 'VALIDATION_FAILED', '/dryRun'],
    ['POST', '/sessions/none/compact', { percent: 50 }, {}, 400, 'VALIDATION_FAILED', '/percent'],
    ['POST', '/sessions/none/compact', {}, {}, 404, 'SESSION_NOT_FOUND', undefined],
    ['POST', '/sessions/none/messages', { messages: [user('x')] }, {}, 404, 'SESSION_NOT_FOUND', undefined],
    ['GET', '/sessions/none/messages', undefined, {}, 404, 'SESSION_NOT_FOUND', undefined],
    ['GET', '/sessions/none/context', undefined, {}, 404, 'SESSION_NOT_FOUND', undefined],
    ['GET', '/sessions/none/compactions', undefined, {}, 404, 'SESSION_NOT_FOUND', undefined],
    ['POST', '/sessions/none/close', undefined, {}, 404, 'SESSION_NOT_FOUND', undefined],
    ['POST', '/sessions/none/reopen', undefined, {}, 404, 'SESSION_NOT_FOUND', undefined],
    ['POST', '/sessions/none/reset', undefined, {}, 404, 'SESSION_NOT_FOUND', undefined],
    ['PATCH', '/sessions/none', { title: 'x' }, {}, 404, 'SESSION_NOT_FOUND', undefined],
    ['DELETE', '/sessions/none', undefined, {}, 404, 'SESSION_NOT_FOUND', undefined],
    ['POST', '/sessions', Buffer.from('{"title":"caf\xe9"}', 'latin1'), {}, 400, 'VALIDATION_FAILED', ''],
    [
      'POST',
      '/sessions',
      '{}',
      { 'content-type': 'application/json; charset=iso-8859-1' },
      415,
      'UNSUPPORTED_MEDIA_TYPE',
      undefined,
    ],
    ['POST', '/sessions/none/reset', { dryRun: true }, {}, 400, 'VALIDATION_FAILED', '/dryRun'],
    ['POST', '/sessions/none/close', [], {}, 400, 'VALIDATION_FAILED', ''],
    ['POST', '/sessions/none/reset?dryRun=true', undefined, {}, 400, 'VALIDATION_FAILED', '/dryRun'],
    ['POST', '/sessions/none/compact?dryRun=true', undefined, {}, 400, 'VALIDATION_FAILED', '/dryRun'],
    ['GET', '/sessions/none?x=1', undefined, {}, 400, 'VALIDATION_FAILED', '/x'],
    ['GET', '/sessions?status=ajar', undefined, {}, 400, 'VALIDATION_FAILED', '/status'],
    ['GET', '/sessions?cursor=abc', undefined, {}, 400, 'VALIDATION_FAILED', '/cursor'],
    ['GET', '/sessions/none/context?form=raw', undefined, {}, 400, 'VALIDATION_FAILED', '/form'],
  ] as const)('%s %s %j', async (method, path, sent, headers, status, code, pointer) => {
    const service = await shared();
    const answer = await service.call(method, path, sent, headers);
    expect([answer.status, answer.body.code]).toEqual([status, code]);
    expect(String(answer.headers['content-type'])).toContain('application/problem+json');
    if (pointer !== undefined) expect(answer.body.errors.map((error) => error.pointer)).toEqual([pointer]);
    expect(known(answer.body.code) && ERROR_CATALOGUE[answer.body.code].status).toBe(status);
  });

  it('never tells what went wrong inside', async () => {
    const service = await startService();
    await service.call('POST', '/sessions', { id: 's' });
    service.sql('DROP TABLE compactions');
    const { status, body } = await service.call('GET', '/sessions/s/compactions');
    expect([status, body.code, body.detail]).toEqual([
      500,
      'INTERNAL_ERROR',
      'The request failed because of a fault in the service',
    ]);
  });
});

describe('on a socket', () => {
  const listening = async () => {
    const service = await startService();
    const address = await service.app.listen({ host: '127.0.0.1', port: 0 });
    return { service, port: Number(new URL(address).port) };
  };

  it('a body of 3 MB is taken; one of 17 MB gets 413, and the service goes on', async () => {
    const { port, service } = await listening();
    const post = (chars: number) =>
      new Promise<{ status: number | undefined; text: string }>((resolve, reject) => {
        const body = JSON.stringify({ messages: [user('x'.repeat(chars))] });
        const request = httpRequest(
          {
            port,
            host: '127.0.0.1',
            method: 'POST',
            path: '/sessions',
            headers: { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) },
          },
          (response) => {
            let text = '';
            response.setEncoding('utf8');
            response.on('data', (chunk) => {
              text += chunk;
            });
            response.on('end', () => resolve({ status: response.statusCode, text }));
          },
        );
        request.on('error', reject);
        request.end(body);
      });
    expect((await post(3 * 1024 * 1024)).status).toBe(201);
    const refused = await post(17 * 1024 * 1024);
    expect(refused.status).toBe(413);
    expect(JSON.parse(refused.text)).toMatchObject({ code: 'PAYLOAD_TOO_LARGE', status: 413 });
    expect((await service.call('GET', '/livez')).status).toBe(200);
    expect((await post(10)).status).toBe(201);
  });

  const raw = (port: number, bytes: string) =>
    new Promise<string>((resolve, reject) => {
      let received = '';
      const socket = connect(port, '127.0.0.1', () => socket.write(bytes));
      socket.on('data', (chunk) => {
        received += chunk;
      });
      socket.on('end', () => resolve(received));
      socket.on('error', reject);
    });

  it.each([
    ['what is not HTTP', 'nonsense\r\n\r\n', 400, 'VALIDATION_FAILED'],
    [
      'a request without a host',
      'GET /sessions HTTP/1.1\r\nconnection: close\r\n\r\n',
      403,
      'FORBIDDEN_ORIGIN',
    ],
    [
      'headers that are too large',
      `GET / HTTP/1.1\r\nhost: localhost\r\nx: ${'y'.repeat(20_000)}\r\n\r\n`,
      431,
      'HEADERS_TOO_LARGE',
    ],
  ])('%s gets problem details too', async (_, bytes, status, code) => {
    const { port } = await listening();
    const [head = '', body = ''] = (await raw(port, bytes)).split('\r\n\r\n');
    expect(head).toMatch(new RegExp(`^HTTP/1.1 ${status} `));
    expect(head).toContain('application/problem+json');
    expect(JSON.parse(body)).toMatchObject({ code, status });
  });
});
