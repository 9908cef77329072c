import { describe, expect, it } from 'vitest';
import { assistant, system, turns, user } from '../support/messages.js';
import { startModelStub } from '../support/model-stub.js';
import { modelAt, sharedService, startService } from '../support/service.js';

describe('creating a session', () => {
  const shared = sharedService();

  it('gives every field, absent ones as null', async () => {
    const service = await startService();
    const { status, body, headers } = await service.call('POST', '/sessions');
    expect(status).toBe(201);
    expect(body.id).toMatch(/^sess_[0-9a-z]{23}$/);
    expect(headers).toMatchObject({ location: `/sessions/${body.id}`, etag: '"1"' });
    expect({ ...body, id: '', created_at: '', updated_at: '' }).toEqual({
      id: '',
      agent: null,
      parent_session_id: null,
      kind: 'manual',
      status: 'open',
      title: null,
      metadata: null,
      compact_summary: null,
      compact_size: 0,
      compact_count: 50,
      message_count: 0,
      input_tokens: 0,
      output_tokens: 0,
      auto_compaction: { state: 'on', failures: 0, error: null },
      revision: 0,
      version: 1,
      created_at: '',
      updated_at: '',
      closed_at: null,
    });
    expect(new Date(body.created_at).toISOString()).toBe(body.created_at);
    expect((await service.call('GET', `/sessions/${body.id}`)).body).toEqual(body);
  });

  it('takes what is given, and stores all of it or nothing', async () => {
    const service = await startService();
    await service.agent('ferry');
    const fields = {
      id: 'trip:1.a-b_c',
      agent: 'ferry',
      title: 'Oslo',
      compactCount: 33.3,
      metadata: { a: { b: [1, null] } },
    };
    const { body } = await service.call('POST', '/sessions', {
      ...fields,
      messages: [system('s'), user('hi')],
    });
    expect(body).toMatchObject({
      id: 'trip:1.a-b_c',
      agent: 'ferry',
      title: 'Oslo',
      compact_count: 33.3,
      metadata: { a: { b: [1, null] } },
      message_count: 2,
    });
    const bad = await service.call('POST', '/sessions', {
      id: 'bad',
      messages: [user('hi'), { role: 'user', content: 5 }],
    });
    expect(bad.status).toBe(400);
    expect((await service.call('GET', '/sessions/bad')).status).toBe(404);
  });

  it('makes titles well-formed, and takes one charset', async () => {
    const service = await startService();
    const { body } = await service.call('POST', '/sessions', '{"title":"x\\ud83d"}');
    expect(body.title).toBe('x\ufffd');
    const typed = { 'content-type': 'application/json; charset=UTF-8' };
    expect((await service.call('POST', '/sessions', '{"title":"é"}', typed)).body.title).toBe('é');
  });

  it('refuses an id that is taken', async () => {
    const service = await startService();
    await service.call('POST', '/sessions', { id: 's', messages: [user('first')] });
    const again = await service.call('POST', '/sessions', { id: 's', messages: [user('second')] });
    expect([again.status, again.body.code, again.headers['x-should-retry']]).toEqual([
      409,
      'SESSION_EXISTS',
      'false',
    ]);
    expect(await service.messages('s')).toEqual([user('first')]);
  });

  it.each([0, 0.5, 99.5, 100, -5, 1e9, null, '50', '50%', 33.3333333, true])(
    'refuses a compactCount of %j',
    async (compactCount) => {
      const service = await shared();
      const { status, body } = await service.call('POST', '/sessions', { compactCount });
      expect([status, body.code, body.errors[0]?.pointer]).toEqual([
        400,
        'VALIDATION_FAILED',
        '/compactCount',
      ]);
    },
  );

  it.each([1, 99, 33.333333, 50.5])('takes a compactCount of %d', async (compactCount) => {
    const service = await shared();
    expect((await service.call('POST', '/sessions', { compactCount })).body.compact_count).toBe(compactCount);
  });
});

describe('listing sessions', () => {
  it('pages from the newest to the oldest, by agent and status', async () => {
    const service = await startService();
    for (const name of ['even', 'odd']) await service.agent(name);
    for (let i = 0; i < 7; i += 1) {
      await service.call('POST', '/sessions', { id: `s${i}`, agent: i % 2 === 0 ? 'even' : 'odd' });
    }
    await service.call('POST', '/sessions/s4/close');
    const walk = async (query: string) => {
      const pages: string[][] = [];
      for (let cursor = ''; ; ) {
        const { body } = await service.call('GET', `/sessions?limit=2&${query}${cursor}`);
        pages.push(body.data.map(({ id }) => id));
        expect(body.has_more).toBe(body.next_cursor !== null);
        if (!body.has_more) return pages;
        cursor = `&cursor=${body.next_cursor}`;
      }
    };
    expect(await walk('')).toEqual([['s6', 's5'], ['s4', 's3'], ['s2', 's1'], ['s0']]);
    expect(await walk('agent=even')).toEqual([
      ['s6', 's4'],
      ['s2', 's0'],
    ]);
    expect(await walk('agent=even&status=open')).toEqual([['s6', 's2'], ['s0']]);
    expect(await walk('agent=none')).toEqual([[]]);
  });
});

describe('changing a session', () => {
  it('sets title and metadata only, each alone, and takes null', async () => {
    const service = await startService();
    await service.call('POST', '/sessions', { id: 's', title: 'a', metadata: { x: 1 } });
    expect((await service.call('PATCH', '/sessions/s', { title: 'b' })).body).toMatchObject({
      title: 'b',
      metadata: { x: 1 },
      version: 2,
    });
    expect((await service.call('PATCH', '/sessions/s', { metadata: null })).body).toMatchObject({
      title: 'b',
      metadata: null,
      version: 3,
    });
    const other = await service.call('PATCH', '/sessions/s', { compact_size: 3 });
    expect([other.status, other.body.errors[0]?.pointer]).toEqual([400, '/compact_size']);
    expect((await service.call('PATCH', '/sessions/s', {})).status).toBe(400);
  });

  it('goes by the version the caller saw when If-Match names it', async () => {
    const service = await startService();
    await service.call('POST', '/sessions', { id: 's' });
    const patch = (tag: string) => service.call('PATCH', '/sessions/s', { title: tag }, { 'if-match': tag });
    expect((await patch('"7"')).body).toMatchObject({ code: 'PRECONDITION_FAILED', status: 412 });
    expect((await patch('nonsense')).status).toBe(412);
    const changed = await patch('"1"');
    expect([changed.status, changed.headers['etag']]).toEqual([200, '"2"']);
    expect((await patch('*')).status).toBe(200);
    expect((await patch('"999", "3"')).status).toBe(200);
    expect((await service.call('DELETE', '/sessions/s', undefined, { 'if-match': '"1"' })).status).toBe(412);
    expect((await service.call('DELETE', '/sessions/s', undefined, { 'if-match': 'W/"4"' })).status).toBe(
      204,
    );
  });

  it('raises the version with each visible change, the revision with the summary and the history', async () => {
    const stub = await startModelStub(() => ({ content: 'S' }));
    const service = await startService(modelAt(stub.url));
    const id = await service.session(turns(4, 100));
    const state = async () => {
      const { body } = await service.call('GET', `/sessions/${id}`);
      return [body.version, body.revision];
    };
    expect(await state()).toEqual([2, 0]);
    await service.call('POST', `/sessions/${id}/messages`, { messages: [user('x')] });
    expect(await state()).toEqual([3, 0]);
    await service.compact(id);
    expect(await state()).toEqual([4, 1]);
    await service.call('POST', `/sessions/${id}/reset`);
    expect(await state()).toEqual([5, 2]);
  });
});

describe('closing a session', () => {
  it('stops messages and compactions until it is reopened, and can be repeated', async () => {
    const service = await startService();
    const id = await service.session(turns(4, 100));
    const closed = await service.call('POST', `/sessions/${id}/close`);
    expect(closed.body).toMatchObject({ status: 'closed', version: 3 });
    expect(closed.body.closed_at).not.toBeNull();
    expect((await service.call('POST', `/sessions/${id}/close`)).body).toEqual(closed.body);
    for (const [path, body] of [
      ['messages', { messages: [user('x')] }],
      ['compact', {}],
      ['compact', { dryRun: true }],
    ] as const) {
      const refused = await service.call('POST', `/sessions/${id}/${path}`, body);
      expect([refused.status, refused.body.code]).toEqual([400, 'SESSION_CLOSED']);
    }
    expect((await service.call('GET', `/sessions/${id}/context`)).status).toBe(200);
    const reopened = await service.call('POST', `/sessions/${id}/reopen`);
    expect(reopened.body).toMatchObject({ status: 'open', closed_at: null, version: 4 });
    expect((await service.call('POST', `/sessions/${id}/reopen`)).body).toEqual(reopened.body);
    expect((await service.compact(id)).status).toBe(200);
  });
});

describe('deleting a session', () => {
  it('leaves nothing of it', async () => {
    const service = await startService();
    const id = await service.session(turns(10, 100));
    await service.compact(id);
    expect((await service.call('DELETE', `/sessions/${id}`)).status).toBe(204);
    for (const table of ['sessions', 'messages', 'compactions']) {
      expect(service.sql(`SELECT count(*) AS n FROM ${table}`)).toEqual([{ n: 0 }]);
    }
    expect((await service.call('DELETE', `/sessions/${id}`)).status).toBe(404);
    expect((await service.call('POST', '/sessions', { id, messages: [assistant('new')] })).status).toBe(201);
    expect(await service.messages(id)).toEqual([assistant('new')]);
  });
});
