import { describe, expect, it } from 'vitest';
import { user } from '../support/messages.js';
import { sharedService, startService } from '../support/service.js';

const texts = (data: readonly { message: { content?: unknown } }[]) =>
  data.map(({ message }) => message.content);

describe('appending messages', () => {
  const shared = sharedService();

  it('answers where each stands', async () => {
    const service = await startService();
    await service.call('POST', '/sessions', { id: 's' });
    const messages = [
      { role: 'system', content: 'sys' },
      user('hello'),
      { role: 'developer', content: null },
      { role: 'assistant' },
    ];
    const { status, body } = await service.call('POST', '/sessions/s/messages', { messages });
    expect(status).toBe(201);
    expect(body.data.map(({ seq, position, chars }) => [seq, position, chars])).toEqual([
      [0, null, 3],
      [1, 0, 5],
      [2, null, 0],
      [3, 1, 0],
    ]);
    expect(body.data[0]?.id).toMatch(/^msg_[0-9a-z]{23}$/);
    expect(new Set(body.data.map(({ id }) => id)).size).toBe(4);
  });

  it.each([
    ['no messages', { messages: [] }, '/messages'],
    ['too many', { messages: Array.from({ length: 1_001 }, () => user('x')) }, '/messages'],
    ['an unknown role', { messages: [user('a'), { role: 'wizard', content: 'x' }] }, '/messages/1/role'],
    ['no role', { messages: [{ content: 'x' }] }, '/messages/0/role'],
    ['a number as content', { messages: [{ role: 'user', content: 5 }] }, '/messages/0/content'],
    ['an object as content', { messages: [{ role: 'user', content: {} }] }, '/messages/0/content'],
    [
      'a part without a type',
      { messages: [{ role: 'user', content: [{ text: 'x' }] }] },
      '/messages/0/content/0/type',
    ],
    [
      'a text part without text',
      { messages: [{ role: 'user', content: [{ type: 'text' }] }] },
      '/messages/0/content/0/text',
    ],
    ['a string among the parts', { messages: [{ role: 'user', content: ['x'] }] }, '/messages/0/content/0'],
    [
      'calls that are no list',
      { messages: [{ role: 'assistant', tool_calls: {} }] },
      '/messages/0/tool_calls',
    ],
    [
      'arguments that are no string',
      {
        messages: [{ role: 'assistant', tool_calls: [{ id: 'c', function: { name: 'n', arguments: {} } }] }],
      },
      '/messages/0/tool_calls/0/function/arguments',
    ],
    [
      'a result without a call id',
      { messages: [{ role: 'tool', content: 'x' }] },
      '/messages/0/tool_call_id',
    ],
    [
      'a result with a null call id',
      { messages: [{ role: 'tool', content: 'x', tool_call_id: null }] },
      '/messages/0/tool_call_id',
    ],
    ['an unknown field beside them', { messages: [user('x')], 'a/b~c': 1 }, '/a~1b~0c'],
    ['a list', [user('x')], ''],
  ])('refuses %s and names the field', async (_, body, pointer) => {
    const service = await shared();
    await service.call('POST', '/sessions', { id: 's' });
    const refused = await service.call('POST', '/sessions/s/messages', body);
    expect(refused.status).toBe(400);
    expect(refused.body.errors.map((error) => [error.in, error.pointer])).toEqual([['body', pointer]]);
    expect((await service.call('GET', '/sessions/s')).body.message_count).toBe(0);
  });

  it('keeps each message word for word: key order, numbers, unknown fields, escapes', async () => {
    const service = await startService();
    await service.call('POST', '/sessions', { id: 's' });
    const written =
      '{"content":"\\ud83d tail \\u0000","10":1,"2":{"b":[1e400,1.0,-0],"a":9007199254740993},"role":"user","name":null}';
    await service.call('POST', '/sessions/s/messages', `{"messages":[${written}]}`);
    for (const path of ['messages', 'context']) {
      expect((await service.call('GET', `/sessions/s/${path}`)).text).toContain(written);
    }
  });

  it('takes the last of two lists, as the parser does, and keeps names that mean something to JavaScript', async () => {
    const service = await startService();
    await service.call('POST', '/sessions', { id: 's' });
    await service.call(
      'POST',
      '/sessions/s/messages',
      '{"messages":[{"role":"user","content":"1"}],"messages":[{"role":"user","content":"2"}]}',
    );
    expect(await service.messages('s')).toEqual([user('2')]);
    const proto = '{"role":"user","content":"x","__proto__":{"a":1},"constructor":{"prototype":{"b":2}}}';
    expect((await service.call('POST', '/sessions/s/messages', `{"messages":[${proto}]}`)).status).toBe(201);
    expect((await service.call('GET', '/sessions/s/messages')).text).toContain(proto);
    expect({}).not.toHaveProperty('a');
  });
});

describe('reading messages', () => {
  const shared = sharedService();
  const session = async (count: number) => {
    const service = await shared();
    const id = await service.session(Array.from({ length: count }, (_, i) => user(`m${i}`)));
    return (query: string) => service.call('GET', `/sessions/${id}/messages?${query}`);
  };

  it.each([
    ['limit=3', ['m0', 'm1', 'm2'], true],
    ['limit=3&order=desc', ['m9', 'm8', 'm7'], true],
    ['after=6', ['m7', 'm8', 'm9'], false],
    ['before=2', ['m0', 'm1'], false],
    ['after=2&before=6&order=desc&limit=2', ['m5', 'm4'], true],
    ['after=9', [], false],
    ['after=999999', [], false],
    ['', ['m0', 'm1', 'm2', 'm3', 'm4', 'm5', 'm6', 'm7', 'm8', 'm9'], false],
  ])('?%s', async (query, expected, more) => {
    const { body } = await (await session(10))(query);
    expect([texts(body.data), body.has_more]).toEqual([expected, more]);
  });

  it.each(['order=asc', 'order=desc', 'after=1&before=9', 'after=1&before=9&order=desc'])(
    'walks ?%s to the end by cursor, each once',
    async (query) => {
      const read = await session(11);
      const whole = (await read(query)).body.data;
      const walked = [];
      for (let next = `${query}&limit=3`; ; ) {
        const { body } = await read(next);
        walked.push(...body.data);
        if (body.next_cursor === null) break;
        next = `cursor=${body.next_cursor}&limit=3`;
      }
      expect(walked).toEqual(whole);
    },
  );

  it.each([
    'limit=0',
    'limit=201',
    'limit=x',
    'after=-1',
    'order=up',
    'cursor=x',
    'cursor=eyJ9',
    'cursor=WzFd',
    'limits=3',
    'cursor=',
  ])('refuses ?%s', async (query) => {
    const { status, body } = await (await session(1))(query);
    expect([status, body.code, body.errors[0]?.in]).toEqual([400, 'VALIDATION_FAILED', 'query']);
    expect(body.errors[0]?.pointer).toBe(`/${query.split('=')[0]}`);
  });

  it('takes a cursor alone', async () => {
    const read = await session(5);
    const { next_cursor } = (await read('limit=2')).body;
    const refused = await read(`cursor=${next_cursor}&after=1`);
    expect([refused.status, refused.body.errors[0]?.pointer]).toEqual([400, '/after']);
  });

  it('ends a page early rather than filling the memory', async () => {
    const service = await startService();
    await service.call('POST', '/sessions', { id: 's' });
    const big = user('x'.repeat(5 * 1024 * 1024));
    for (let i = 0; i < 5; i += 1) await service.call('POST', '/sessions/s/messages', { messages: [big] });
    const first = await service.call('GET', '/sessions/s/messages');
    expect([first.body.data.length, first.body.has_more]).toEqual([3, true]);
    const second = await service.call('GET', `/sessions/s/messages?cursor=${first.body.next_cursor}`);
    expect([second.body.data.length, second.body.has_more]).toEqual([2, false]);
  });
});

describe('the context', () => {
  it('adds up chars, tokens and counts', async () => {
    const service = await startService();
    await service.session(
      [{ role: 'system', content: 'é' }, user('abc'), { role: 'assistant', content: '漢字' }],
      { id: 's' },
    );
    const { body } = await service.call('GET', '/sessions/s/context');
    expect({ ...body, messages: body.messages.length }).toEqual({
      messages: 3,
      summary_chars: 0,
      tail_count: 2,
      chars: 6,
      estimated_tokens: Math.ceil((2 + 3 + 6) / 3),
    });
  });

  it('is the same however many pages it takes, cached or not', async () => {
    for (const CONTEXT_CACHE_BYTES of ['0', '100000', '67108864']) {
      const service = await startService({ CONTEXT_CACHE_BYTES });
      const messages = Array.from({ length: 1_000 }, (_, i) => user(`message ${i} ${'x'.repeat(i)}`));
      const id = await service.session(messages);
      for (let i = 0; i < 3; i += 1) expect(await service.view(id)).toEqual(messages);
      await service.call('POST', `/sessions/${id}/messages`, { messages: [user('one more')] });
      expect((await service.view(id)).at(-1)).toEqual(user('one more'));
      await service.call('POST', `/sessions/${id}/reset`);
      expect(await service.view(id)).toEqual([]);
      await service.call('POST', `/sessions/${id}/messages`, { messages: messages.slice(0, 300).reverse() });
      expect(await service.view(id)).toEqual(messages.slice(0, 300).reverse());
    }
  });
});
