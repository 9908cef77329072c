import { describe, expect, it } from 'vitest';
import { startService, type TestService } from '../support/service.js';

const append = (service: TestService, id: string, message: unknown) =>
  service.call('POST', `/sessions/${id}/messages`, { messages: [message] });

describe('what a message holds comes back as it was given', () => {
  const messages: readonly { name: string; message: object }[] = [
    {
      name: 'fields that nobody here knows',
      message: {
        role: 'assistant',
        content: [{ type: 'text', text: 'hi', detail: 'low', cache_control: { type: 'ephemeral' } }],
        name: 'guide',
        reasoning_content: 'think',
        cache_control: { type: 'ephemeral' },
        metadata: { a: { b: [1] } },
      },
    },
    {
      name: 'unknown parts',
      message: { role: 'user', content: [{ type: 'hologram', depth: 3 }, { type: 'image_url' }] },
    },
    { name: 'null content', message: { role: 'assistant', content: null } },
    { name: 'empty content', message: { role: 'user', content: '' } },
    { name: 'a digit', message: { role: 'user', content: '0' } },
    { name: 'the word null', message: { role: 'user', content: 'null' } },
    { name: 'the word false', message: { role: 'user', content: 'false' } },
    { name: 'a plain string', message: { role: 'user', content: 'hi' } },
    { name: 'an empty list of parts', message: { role: 'user', content: [] } },
    { name: 'no content at all', message: { role: 'assistant', tool_calls: [] } },
    { name: 'null tool calls', message: { role: 'assistant', content: 'x', tool_calls: null } },
    {
      name: 'unknown fields of a tool call',
      message: {
        role: 'assistant',
        content: null,
        tool_calls: [
          { id: 'c1', type: 'function', index: 0, function: { name: 'f', arguments: '{', strict: null } },
        ],
      },
    },
    { name: 'zero, false and null', message: { role: 'user', content: 'x', a: 0, b: false, c: null, d: '' } },
    { name: 'keys out of order', message: { zeta: 1, content: 'x', role: 'user', alpha: 2, '7': 3, '1': 4 } },
  ];

  it.each(messages)('$name', async ({ message }) => {
    const service = await startService();
    const id = await service.session([]);
    const text = JSON.stringify(message);

    const { status } = await append(service, id, message);

    expect(status).toBe(201);
    const list = await service.call('GET', `/sessions/${id}/messages`);
    expect(list.text).toContain(`"message":${text}}`);
    expect((await service.call('GET', `/sessions/${id}/context`)).text).toContain(`{"messages":[${text}],`);
  });

  it('with its keys and numbers as they were written, not as a parser reads them', async () => {
    const service = await startService();
    const id = await service.session([]);
    const text =
      '{"role":"user","9":1,"1":2,"content":"x","big":12345678901234567890,"e":1e400,"z":-0,"f":1.10}';
    expect((await service.call('POST', `/sessions/${id}/messages`, `{"messages":[${text}]}`)).status).toBe(
      201,
    );
    expect((await service.call('GET', `/sessions/${id}/messages`)).text).toContain(`"message":${text}}`);
  });
});

describe('metadata comes back as it was given', () => {
  it.each([
    { name: 'zero, false and null', metadata: { x: 0, y: false, z: null } },
    { name: 'empty values', metadata: { a: '', b: [], c: {} } },
    { name: 'nested values', metadata: { a: { b: [1, 'two', { c: null }] } } },
    { name: 'an empty object', metadata: {} },
    { name: 'null', metadata: null },
  ])('$name', async ({ metadata }) => {
    const service = await startService();
    const { status, body } = await service.call('POST', '/sessions', { metadata });
    expect(status).toBe(201);
    expect(body.metadata).toEqual(metadata);
    const read = await service.call('GET', `/sessions/${body.id}`);
    expect(read.text).toContain(`"metadata":${JSON.stringify(metadata)}`);
    const patched = await service.call('PATCH', `/sessions/${body.id}`, { metadata: { again: metadata } });
    expect(patched.body.metadata).toEqual({ again: metadata });
  });
});

describe('a value of the wrong type is refused, not turned into another', () => {
  const refused: readonly { name: string; message: unknown; pointer: string }[] = [
    { name: 'a number as content', message: { role: 'user', content: 5 }, pointer: '/messages/0/content' },
    { name: 'false as content', message: { role: 'user', content: false }, pointer: '/messages/0/content' },
    { name: 'an object as content', message: { role: 'user', content: {} }, pointer: '/messages/0/content' },
    {
      name: 'a string as a part',
      message: { role: 'user', content: ['x'] },
      pointer: '/messages/0/content/0',
    },
    {
      name: 'an object as tool calls',
      message: { role: 'assistant', content: null, tool_calls: { id: 'c1' } },
      pointer: '/messages/0/tool_calls',
    },
    {
      name: 'an object as arguments',
      message: { role: 'assistant', content: null, tool_calls: [{ function: { name: 'f', arguments: {} } }] },
      pointer: '/messages/0/tool_calls/0/function/arguments',
    },
    {
      name: 'a number as the id of a call',
      message: { role: 'assistant', content: null, tool_calls: [{ id: 1 }] },
      pointer: '/messages/0/tool_calls/0/id',
    },
    { name: 'null as a role', message: { role: null, content: 'x' }, pointer: '/messages/0/role' },
    { name: 'a list as a message', message: [], pointer: '/messages/0' },
    { name: 'a string as a message', message: 'hi', pointer: '/messages/0' },
    {
      name: 'a number as the text of a part',
      message: { role: 'user', content: [{ type: 'text', text: 5 }] },
      pointer: '/messages/0/content/0/text',
    },
  ];

  it.each(refused)('$name', async ({ message, pointer }) => {
    const service = await startService();
    const id = await service.session([]);
    const { status, body } = await append(service, id, message);
    expect({ status, code: body.code, pointer: body.errors[0]?.pointer }).toEqual({
      status: 400,
      code: 'VALIDATION_FAILED',
      pointer,
    });
    expect((await service.call('GET', `/sessions/${id}`)).body).toMatchObject({
      message_count: 0,
      version: 1,
    });
  });

  it('and one wrong message among good ones takes them all with it', async () => {
    const service = await startService();
    const id = await service.session([]);
    const messages = [
      { role: 'user', content: 'good' },
      { role: 'user', content: 5 },
    ];
    expect((await service.call('POST', `/sessions/${id}/messages`, { messages })).status).toBe(400);
    expect(await service.messages(id)).toEqual([]);
  });

  it.each([
    { name: 'a string as messages', body: { messages: 'hi' } },
    { name: 'one message without a list', body: { messages: { role: 'user', content: 'x' } } },
    { name: 'a list as metadata', body: { metadata: [] } },
    { name: 'a string as percent', body: { compactCount: '50' } },
    { name: 'null as percent', body: { compactCount: null } },
    { name: 'a number as title', body: { title: 5 } },
    { name: 'a list as the body', body: [] },
    { name: 'a string as the body', body: '"x"' },
  ])('also at creation: $name', async ({ body }) => {
    const service = await startService();
    expect((await service.call('POST', '/sessions', body)).status).toBe(400);
    expect((await service.call('GET', '/sessions')).body.data).toEqual([]);
  });
});
