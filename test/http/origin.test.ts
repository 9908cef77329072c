import { describe, expect, it } from 'vitest';
import { sharedService, startService } from '../support/service.js';

const own = 'localhost:5050';

describe('without API keys, a web page cannot reach the service', () => {
  const shared = sharedService();

  it.each([
    ['its own page', { host: own, origin: 'http://localhost:5050', 'sec-fetch-site': 'same-origin' }, 200],
    ['a program', { host: '127.0.0.1:5050' }, 200],
    ['a program over IPv6', { host: '[::1]:5050' }, 200],
    ['a link typed by hand', { host: own, 'sec-fetch-site': 'none' }, 200],
    ['another site', { host: own, origin: 'https://evil.example' }, 403],
    ['another port of this machine', { host: own, origin: 'http://localhost:3000' }, 403],
    ['another scheme and port', { host: own, origin: 'https://localhost' }, 403],
    ['a sandboxed page', { host: own, origin: 'null' }, 403],
    ['an image on another site', { host: own, 'sec-fetch-site': 'cross-site' }, 403],
    [
      'its own page, by the word of another site',
      { host: own, origin: 'http://localhost:5050', 'sec-fetch-site': 'cross-site' },
      403,
    ],
    ['a name that resolves here', { host: 'evil.example' }, 403],
    ['a name that looks local', { host: 'localhost.evil.example:5050' }, 403],
    ['another name of the same form', { host: '127.0.0.1.evil.example' }, 403],
  ])('%s', async (_, headers, status) => {
    const service = await shared();
    for (const [method, path] of [
      ['GET', '/sessions'],
      ['GET', '/docs/'],
      ['GET', '/openapi.json'],
    ] as const) {
      const answer = await service.call(method, path, undefined, headers);
      expect([path, answer.status]).toEqual([path, status]);
    }
    const created = await service.call('POST', '/sessions', {}, headers);
    expect(created.status).toBe(status === 200 ? 201 : 403);
    if (status === 403) expect(created.body.code).toBe('FORBIDDEN_ORIGIN');
  });

  it('except by the hosts that are allowed', async () => {
    const service = await startService({ ALLOWED_HOSTS: 'api.example, Other.Example' });
    const call = (headers: Record<string, string>) => service.call('GET', '/sessions', undefined, headers);
    expect((await call({ host: 'api.example' })).status).toBe(200);
    expect((await call({ host: 'other.example:8443' })).status).toBe(200);
    expect((await call({ host: 'third.example' })).status).toBe(403);
    expect(
      (await call({ host: own, origin: 'https://api.example', 'sec-fetch-site': 'cross-site' })).status,
    ).toBe(200);
  });
});
