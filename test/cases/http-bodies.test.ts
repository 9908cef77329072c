import { Client } from 'undici';
import { describe, expect, it, onTestFinished } from 'vitest';
import { turns, user } from '../support/messages.js';
import { startService, type TestService } from '../support/service.js';
import { startWithModel } from './session-state.js';

const dataUrl = (bytes: number) => `data:image/png;base64,${'iVBORw0K'.repeat(bytes / 8)}`;
const picture = (bytes: number) => ({
  messages: [{ role: 'user', content: [{ type: 'image_url', image_url: { url: dataUrl(bytes) } }] }],
});

describe('a large message', () => {
  it('with a picture of 3 MB is stored and given back whole', async () => {
    const service = await startService();
    const id = await service.session([]);
    const sent = picture(3_000_000);

    const { status, body } = await service.call('POST', `/sessions/${id}/messages`, sent);

    expect(status).toBe(201);
    expect(body.data[0]).toMatchObject({ seq: 0, position: 0, chars: 0 });
    const [stored] = await service.messages(id);
    expect(JSON.stringify(stored) === JSON.stringify(sent.messages[0])).toBe(true);
  });

  it('over the configured limit is refused as such, and the connection goes on', async () => {
    const service = await startService({ BODY_LIMIT: '100000' });
    const id = await service.session([]);
    const client = await connectionTo(service);
    const post = async (body: string) => {
      const answer = await client.request({
        method: 'POST',
        path: `/sessions/${id}/messages`,
        headers: { 'content-type': 'application/json' },
        body,
      });
      const json: unknown = await answer.body.json();
      return { status: answer.statusCode, type: answer.headers['content-type'], json };
    };

    const refused = await post(JSON.stringify(picture(100_000)));
    const accepted = await post(JSON.stringify({ messages: [user('small')] }));

    expect(refused.status).toBe(413);
    expect(refused.type).toBe('application/problem+json; charset=utf-8');
    expect(refused.json).toMatchObject({ status: 413, code: 'PAYLOAD_TOO_LARGE', retryable: false });
    expect(accepted.status).toBe(201);
    expect(await service.messages(id)).toEqual([user('small')]);
  });

  it('is measured against the limit in bytes, to the byte', async () => {
    const service = await startService({ BODY_LIMIT: '2000' });
    const id = await service.session([]);
    const bodyOf = (bytes: number) => {
      const frame = Buffer.byteLength(JSON.stringify({ messages: [user('')] }));
      const pairs = Math.floor((bytes - frame) / 2);
      return JSON.stringify({ messages: [user('é'.repeat(pairs) + 'x'.repeat(bytes - frame - pairs * 2))] });
    };
    expect((await service.call('POST', `/sessions/${id}/messages`, bodyOf(2_001))).status).toBe(413);
    expect((await service.call('POST', `/sessions/${id}/messages`, bodyOf(2_000))).status).toBe(201);
  });
});

async function connectionTo(service: TestService): Promise<Client> {
  const client = new Client(await service.app.listen({ port: 0, host: '127.0.0.1' }), { pipelining: 1 });
  onTestFinished(() => client.destroy());
  return client;
}

describe('a request without a body that says it is JSON', () => {
  const bodies = [
    { name: 'nothing', body: '' },
    { name: 'white space', body: ' \n' },
  ];
  const types = ['application/json', 'application/json; charset=utf-8'];

  it.each(bodies.flatMap((given) => types.map((type) => ({ ...given, type }))))(
    'is taken as one without options: $name under $type',
    async ({ body, type }) => {
      const { service, stub } = await startWithModel({ content: 'S1' });
      const id = await service.session(turns(8, 100));
      const headers = { 'content-type': type };

      const created = await service.call('POST', '/sessions', body, headers);
      const compacted = await service.call('POST', `/sessions/${id}/compact`, body, headers);
      const closed = await service.call('POST', `/sessions/${id}/close`, body, headers);
      const reopened = await service.call('POST', `/sessions/${id}/reopen`, body, headers);
      const reset = await service.call('POST', `/sessions/${id}/reset`, body, headers);
      const deleted = await service.call('DELETE', `/sessions/${id}`, body, headers);

      expect([created, compacted, closed, reopened, reset, deleted].map(({ status }) => status)).toEqual([
        201, 200, 200, 200, 200, 204,
      ]);
      expect(created.body.message_count).toBe(0);
      expect(compacted.body).toMatchObject({ compactedCount: 4, newSize: 4, alreadyUpToDate: false });
      expect(stub.server.requests.length).toBe(1);
      expect(reset.body).toMatchObject({ compact_summary: null, compact_size: 0, message_count: 0 });
      expect((await service.call('GET', `/sessions/${id}`)).status).toBe(404);
    },
  );

  it('needs no content type either', async () => {
    const { service } = await startWithModel({ content: 'S1' });
    const id = await service.session(turns(8, 100));
    expect((await service.compact(id)).body.compactedCount).toBe(4);
    expect((await service.call('POST', `/sessions/${id}/reset`)).status).toBe(200);
  });

  it('does over a real connection what it does without one', async () => {
    const { service } = await startWithModel({ content: 'S1' });
    const id = await service.session(turns(8, 100));
    const client = await connectionTo(service);
    const statuses: number[] = [];
    for (const [method, path] of [
      ['POST', `/sessions/${id}/compact`],
      ['POST', `/sessions/${id}/reset`],
      ['DELETE', `/sessions/${id}`],
    ] as const) {
      const answer = await client.request({ method, path, headers: { 'content-type': 'application/json' } });
      await answer.body.dump();
      statuses.push(answer.statusCode);
    }
    expect(statuses).toEqual([200, 200, 204]);
  });

  it('is refused where a body is needed', async () => {
    const service = await startService();
    const id = await service.session([]);
    const { status, body } = await service.call('POST', `/sessions/${id}/messages`, '');
    expect({ status, code: body.code }).toEqual({ status: 400, code: 'VALIDATION_FAILED' });
  });
});
