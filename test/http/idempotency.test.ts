import { connect } from 'node:net';
import { describe, expect, it } from 'vitest';
import { appendWith, countOf, createWith, keyed, keysOf, outcome } from '../idempotency/keyed.js';
import { user } from '../support/messages.js';
import { sharedService, startService } from '../support/service.js';

const one = { messages: [user('hello')] };

/** The service with an empty session `s`. */
async function withSession(file?: string) {
  const service = await startService({}, file);
  await service.call('POST', '/sessions', { id: 's' });
  return service;
}

describe('an append with a key', () => {
  it('is done once, and answered the same each time', async () => {
    const service = await withSession();
    const first = await appendWith(service, 'k', one);
    const second = await appendWith(service, 'k', one);
    expect(outcome(first)).toEqual([201, undefined, undefined]);
    expect(outcome(second)).toEqual([201, undefined, 'true']);
    expect(second.text).toBe(first.text);
    expect(second.headers['content-type']).toBe(first.headers['content-type']);
    expect(countOf(service, 'messages')).toEqual({ n: 1 });
    expect(keysOf(service)).toEqual([{ key: 'k', status: 'answered' }]);
  });

  it('is answered as one without a key is', async () => {
    const service = await withSession();
    const without = await service.call('POST', '/sessions/s/messages', one);
    const withKey = await appendWith(service, 'k', one);
    const shape = (text: string) => text.replace(/msg_\w+|\d{4}-[^"]+|:\d/g, '_');
    expect(shape(withKey.text)).toBe(shape(without.text));
    expect(Object.keys(withKey.headers)).toEqual(Object.keys(without.headers));
    expect(withKey.headers['content-type']).toBe(without.headers['content-type']);
  });

  it('is done once when 20 come at the same time', async () => {
    const service = await withSession();
    const answers = await Promise.all(Array.from({ length: 20 }, () => appendWith(service, 'k', one)));
    expect(new Set(answers.map(({ status, text }) => `${status} ${text}`)).size).toBe(1);
    expect(answers[0]?.status).toBe(201);
    expect(answers.filter(({ headers }) => headers['idempotency-replayed'] === undefined).length).toBe(1);
    expect(countOf(service, 'messages')).toEqual({ n: 1 });
  });

  it('is done once by two services on one file', async () => {
    const service = await withSession();
    const other = await startService({}, service.file);
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, i) => appendWith(i % 2 === 0 ? service : other, 'k', one)),
    );
    expect(new Set(answers.map(({ status, text }) => `${status} ${text}`)).size).toBe(1);
    expect(answers[0]?.status).toBe(201);
    expect(countOf(service, 'messages')).toEqual({ n: 1 });
  });

  it('is answered the same after a restart', async () => {
    const service = await withSession();
    const first = await appendWith(service, 'k', one);
    await service.close();
    const next = await startService({}, service.file);
    const second = await appendWith(next, 'k', one);
    expect(outcome(second)).toEqual([201, undefined, 'true']);
    expect(second.text).toBe(first.text);
    expect(countOf(next, 'messages')).toEqual({ n: 1 });
  });

  it('is answered the same once the session is closed, and once it is gone', async () => {
    const service = await withSession();
    const first = await appendWith(service, 'k', one);
    await service.call('POST', '/sessions/s/close');
    expect((await appendWith(service, 'k', one)).text).toBe(first.text);
    await service.call('DELETE', '/sessions/s');
    const last = await appendWith(service, 'k', one);
    expect(outcome(last)).toEqual([201, undefined, 'true']);
    expect(last.text).toBe(first.text);
  });

  it('is another one with another key, and with none', async () => {
    const service = await withSession();
    await appendWith(service, 'k', one);
    await appendWith(service, 'K', one);
    await service.call('POST', '/sessions/s/messages', one);
    expect(countOf(service, 'messages')).toEqual({ n: 3 });
    expect(keysOf(service)).toEqual([
      { key: 'k', status: 'answered' },
      { key: 'K', status: 'answered' },
    ]);
  });
});

describe('a key that was used', () => {
  it.each([
    ['another body', '/sessions/s/messages', { messages: [user('other')] }],
    ['the same JSON in other bytes', '/sessions/s/messages', JSON.stringify(one, null, 1)],
    ['another session', '/sessions/t/messages', one],
    ['a session that is not there', '/sessions/none/messages', one],
    ['another operation', '/sessions/s/compact', undefined],
    ['another operation with the same body', '/sessions', one],
  ])('is refused to %s', async (_, path, body) => {
    const service = await withSession();
    await service.call('POST', '/sessions', { id: 't' });
    await appendWith(service, 'k', one);
    const refused = await service.call('POST', path, body, keyed('k'));
    expect(outcome(refused)).toEqual([422, 'IDEMPOTENCY_KEY_REUSED', undefined]);
    expect(refused.body.retryable).toBe(false);
    expect(countOf(service, 'messages')).toEqual({ n: 1 });
    expect(outcome(await appendWith(service, 'k', one))).toEqual([201, undefined, 'true']);
  });

  it('stands for the path however it is escaped', async () => {
    const service = await withSession();
    const first = await appendWith(service, 'k', one);
    const second = await appendWith(service, 'k', one, '%73');
    expect(outcome(second)).toEqual([201, undefined, 'true']);
    expect(second.text).toBe(first.text);
  });

  it('is free again after 24 hours, for any request', async () => {
    const service = await withSession();
    await appendWith(service, 'k', one);
    service.sql('UPDATE idempotency_keys SET expires_at = expires_at - 86400000 + 60000');
    expect(outcome(await appendWith(service, 'k', one))).toEqual([201, undefined, 'true']);
    service.sql('UPDATE idempotency_keys SET expires_at = expires_at - 60000');
    expect(outcome(await appendWith(service, 'k', { messages: [user('b')] }))).toEqual([
      201,
      undefined,
      undefined,
    ]);
    expect(countOf(service, 'messages')).toEqual({ n: 2 });
    expect(keysOf(service)).toEqual([{ key: 'k', status: 'answered' }]);
  });
});

describe('a request that fails', () => {
  it.each([
    ['its body is not valid', '/sessions/s/messages', { messages: [{ role: 'wizard' }] }, 400],
    ['its body is no JSON', '/sessions/s/messages', '{', 400],
    ['its session is not there', '/sessions/none/messages', one, 404],
    ['its session is closed', '/sessions/closed/messages', one, 400],
    ['its id is taken', '/sessions', { id: 's' }, 409],
    ['its percent is not valid', '/sessions', { compactCount: 1.00000001 }, 400],
  ])('leaves its key free: %s', async (_, path, body, status) => {
    const service = await withSession();
    await service.call('POST', '/sessions', { id: 'closed' });
    await service.call('POST', '/sessions/closed/close');
    expect((await service.call('POST', path, body, keyed('k'))).status).toBe(status);
    expect(keysOf(service)).toEqual([]);
    expect(outcome(await appendWith(service, 'k', one))).toEqual([201, undefined, undefined]);
    expect(countOf(service, 'messages')).toEqual({ n: 1 });
  });

  it('goes through once what stood against it is gone', async () => {
    const service = await withSession();
    await service.call('POST', '/sessions/s/close');
    expect(outcome(await appendWith(service, 'k', one))).toEqual([400, 'SESSION_CLOSED', undefined]);
    await service.call('POST', '/sessions/s/reopen');
    expect(outcome(await appendWith(service, 'k', one))).toEqual([201, undefined, undefined]);
  });

  it('takes its key and what it wrote back when a later message cannot be stored', async () => {
    const service = await withSession();
    service.sql(
      "CREATE TRIGGER full BEFORE INSERT ON messages WHEN NEW.seq = 1 BEGIN SELECT RAISE(ABORT, 'no'); END",
    );
    const two = { messages: [user('a'), user('b')] };
    expect((await appendWith(service, 'k', two)).status).toBe(500);
    expect([countOf(service, 'messages'), keysOf(service)]).toEqual([{ n: 0 }, []]);
    service.sql('DROP TRIGGER full');
    expect(outcome(await appendWith(service, 'k', two))).toEqual([201, undefined, undefined]);
    expect(countOf(service, 'messages')).toEqual({ n: 2 });
  });

  it('writes nothing when its answer cannot be stored', async () => {
    const service = await withSession();
    service.sql("CREATE TRIGGER full BEFORE UPDATE ON idempotency_keys BEGIN SELECT RAISE(ABORT, 'no'); END");
    expect((await appendWith(service, 'k', one)).status).toBe(500);
    expect([countOf(service, 'messages'), keysOf(service)]).toEqual([{ n: 0 }, []]);
  });
});

describe('a session created with a key', () => {
  it('is created once, and answered as it was then, whatever became of it', async () => {
    const service = await startService();
    const body = { title: 'T', metadata: { z: 1, a: 'ü' }, messages: [user('hello')] };
    const first = await createWith(service, 'k', body);
    const { id } = first.body;
    await service.call('PATCH', `/sessions/${id}`, { title: 'changed' });
    await appendWith(service, 'a', one, id);
    const second = await createWith(service, 'k', body);
    await service.call('DELETE', `/sessions/${id}`);
    const third = await createWith(service, 'k', body);
    for (const answer of [second, third]) {
      expect(outcome(answer)).toEqual([201, undefined, 'true']);
      expect(answer.text).toBe(first.text);
      expect(answer.headers['location']).toBe(`/sessions/${id}`);
      expect(answer.headers['etag']).toBe('"2"');
    }
    expect(first.headers['location']).toBe(`/sessions/${id}`);
    expect(first.headers['etag']).toBe('"2"');
    expect(countOf(service, 'sessions')).toEqual({ n: 0 });
  });

  it('is one session when 20 come at the same time, with an id of their own and without', async () => {
    const service = await startService();
    const twenty = (key: string, body?: object) =>
      Promise.all(Array.from({ length: 20 }, () => createWith(service, key, body)));
    const [named, unnamed] = await Promise.all([twenty('k', { id: 'mine' }), twenty('l')]);
    for (const answers of [named, unnamed]) {
      expect(new Set(answers.map(({ status, text }) => `${status} ${text}`)).size).toBe(1);
      expect(answers[0]?.status).toBe(201);
    }
    expect(countOf(service, 'sessions')).toEqual({ n: 2 });
  });

  it('is the same request without a body and with an empty one', async () => {
    const service = await startService();
    const first = await createWith(service, 'k');
    const second = await service.call('POST', '/sessions', '', keyed('k'));
    expect(second.text).toBe(first.text);
    expect(outcome(await createWith(service, 'k', {}))).toEqual([422, 'IDEMPOTENCY_KEY_REUSED', undefined]);
  });
});

describe('the header', () => {
  const shared = sharedService();

  it.each([
    ['nothing', ''],
    ['256 characters', 'k'.repeat(256)],
    ['a letter beyond ASCII', 'schlüssel'],
    ['a tab', 'a\tb'],
    ['a control character', 'a\u007fb'],
  ])('must not be %s', async (_, key) => {
    const service = await shared();
    const bodies = { '/sessions': {}, '/sessions/none/messages': one, '/sessions/none/compact': {} };
    for (const [path, sent] of Object.entries(bodies)) {
      const { status, body } = await service.call('POST', path, sent, keyed(key));
      expect([path, status, body.code]).toEqual([path, 400, 'VALIDATION_FAILED']);
      expect(body.errors.map((error) => [error.in, error.pointer])).toEqual([['header', '/idempotency-key']]);
    }
    expect(keysOf(service)).toEqual([]);
  });

  it('may have 255 printable characters', async () => {
    const service = await withSession();
    const key = `!"#$%&'(), ~${'k'.repeat(243)}`;
    expect(key.length).toBe(255);
    expect(outcome(await appendWith(service, key, one))).toEqual([201, undefined, undefined]);
    expect(outcome(await appendWith(service, key, one))).toEqual([201, undefined, 'true']);
  });

  it('must be there once', async () => {
    const service = await withSession();
    const address = await service.app.listen({ port: 0, host: '127.0.0.1' });
    const body = JSON.stringify(one);
    const head = `POST /sessions/s/messages HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n`;
    const twice = await send(address, `${head}Idempotency-Key: a\r\nidempotency-key: a\r\n\r\n${body}`);
    expect(twice).toMatch(/^HTTP\/1\.1 400 /);
    expect(twice).toContain('"pointer":"/idempotency-key"');
    // One key with a comma in it is something else.
    const comma = await send(address, `${head}Idempotency-Key: a, a\r\n\r\n${body}`);
    expect(comma).toMatch(/^HTTP\/1\.1 201 /);
    expect(keysOf(service)).toEqual([{ key: 'a, a', status: 'answered' }]);
  });

  it('is left aside where nothing is created or run', async () => {
    const service = await withSession();
    await service.call('POST', '/sessions/s/close', undefined, keyed('k'));
    await service.call('GET', '/sessions/s', undefined, keyed('k'));
    expect(keysOf(service)).toEqual([]);
  });

  it('is in the document of the operations that take it', async () => {
    const { text } = await (await shared()).call('GET', '/openapi.json');
    const document: {
      paths: Record<
        string,
        { post?: { parameters?: object[]; responses: Record<string, { description: string }> } }
      >;
    } = JSON.parse(text);
    for (const path of ['/sessions', '/sessions/{id}/messages', '/sessions/{id}/compact']) {
      const { parameters, responses } = document.paths[path]?.post ?? {};
      expect(parameters).toContainEqual(
        expect.objectContaining({ in: 'header', name: 'idempotency-key', required: false }),
      );
      expect(responses?.['422']?.description).toBe('IDEMPOTENCY_KEY_REUSED');
      expect(responses?.['409']?.description).toContain('IDEMPOTENCY_KEY_IN_USE');
    }
  });
});

/** Sends bytes as they are, and gives all that comes back. */
function send(address: string, bytes: string): Promise<string> {
  return new Promise((resolve, reject) => {
    let received = '';
    const socket = connect(Number(new URL(address).port), '127.0.0.1', () => socket.write(bytes));
    socket.on('data', (chunk) => {
      received += chunk.toString();
    });
    socket.on('error', reject);
    socket.on('close', () => resolve(received));
  });
}
