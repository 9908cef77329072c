import { describe, expect, it } from 'vitest';
import { startService, type TestService } from '../support/service.js';

const FULL = {
  maxSteps: 7,
  description: 'Books ferries',
  model: 'gpt-4.1',
  systemPrompt: 'You book ferries.\n\u{1f9e8}',
  temperature: 0.25,
  maxTokens: 500,
  tools: [
    {
      type: 'function',
      function: {
        parameters: { type: 'object', 'x-order': ['b', 'a', null], $defs: {} },
        name: 'find_ferry',
        strict: true,
      },
    },
  ],
  subagents: ['clerk'],
  daemon: { prompt: 'Look.', everySeconds: 60 },
  defaultCompaction: { keepRecent: 2, compactionCount: 33.3, auto: { maxShare: 0.8 } },
};

const put = (service: TestService, name: string, definition: object = {}) =>
  service.call('PUT', `/agents/${name}`, definition);
const errorsOf = ({ body }: { body: { errors: { pointer: string; message: string }[] } }) =>
  body.errors.map(({ pointer, message }) => `${pointer} ${message}`);
const tickDue = (service: TestService, name: string) => {
  const [row] = service.sql('SELECT tick_due_at FROM agents WHERE name = ?', name);
  return Object.values(row ?? {})[0];
};

describe('defining an agent', () => {
  it('answers 201 when it is new, 200 from then on, and reads back as it was given', async () => {
    const service = await startService();
    await service.agent('clerk');
    const created = await put(service, 'ferry', FULL);
    expect([created.status, created.headers['location']]).toEqual([201, '/agents/ferry']);
    const times = { created_at: expect.any(String), updated_at: expect.any(String) };
    expect(created.body).toEqual({ name: 'ferry', ...FULL, ...times });
    expect(
      created.text.startsWith(`{"name":"ferry",${JSON.stringify(FULL).slice(1, -1)},"created_at":"`),
    ).toBe(true);
    const read = await service.call('GET', '/agents/ferry');
    expect([read.status, read.text]).toEqual([200, created.text]);

    const again = await put(service, 'ferry', { description: 'd', name: 'ferry' });
    expect([again.status, again.headers['location']]).toEqual([200, undefined]);
    expect(again.body).toEqual({
      name: 'ferry',
      description: 'd',
      ...times,
      created_at: created.body.created_at,
    });
    expect((await service.call('GET', '/agents/ferry')).text).toBe(again.text);
  });

  it.each<[string, object, string]>([
    ['another name than the path', { name: 'other' }, '/name must be a, the name in the path, or left out'],
    ['an unknown field', { prompt: 'x' }, '/prompt is not a known field'],
    [
      'an unknown field far inside',
      { defaultCompaction: { compactionCount: 50, auto: { maxTokens: 1, max: 1 } } },
      '/defaultCompaction/auto/max is not a known field',
    ],
    ['a missing field', { daemon: {} }, '/daemon/prompt is required'],
    [
      'a percent with more decimals than are kept',
      { defaultCompaction: { compactionCount: 33.3333333 } },
      '/defaultCompaction/compactionCount must be 1 to 99 with at most 6 decimals',
    ],
    ['U+0000', { systemPrompt: 'a\u0000' }, '/systemPrompt must not hold U+0000'],
    [
      'half of a surrogate pair',
      { daemon: { prompt: '\ud83d' } },
      '/daemon/prompt must not hold half of a surrogate pair',
    ],
    ['itself as a subagent', { subagents: ['a'] }, '/subagents/0 makes a loop: a -> a'],
    ['an unknown subagent', { subagents: ['nobody'] }, '/subagents/0 is no agent: nobody'],
    [
      'the name of a subagent as the name of a tool',
      { subagents: ['b'], tools: [{ type: 'function', function: { name: 'b' } }] },
      '/tools/0/function/name is the name of a subagent',
    ],
  ])('refuses %s, and stores nothing', async (_, definition, error) => {
    const service = await startService();
    const answer = await put(service, 'a', definition);
    expect([answer.status, answer.body.code]).toEqual([400, 'VALIDATION_FAILED']);
    expect(errorsOf(answer)).toEqual([error]);
    expect((await service.call('GET', '/agents/a')).status).toBe(404);
  });

  it.each(['a.b', 'a%20b', '%F0%9F%A7%A8', 'x'.repeat(65), 'a%00'])('refuses the name %s', async (name) => {
    const answer = await put(await startService(), name);
    expect(answer.status).toBe(400);
    expect(answer.body.errors[0]).toMatchObject({ in: 'path', pointer: '/name' });
  });

  it('takes names that mean something to JavaScript', async () => {
    const service = await startService();
    await service.agent('__proto__', { description: 'd' });
    await service.agent('constructor', { subagents: ['__proto__'] });
    expect((await service.call('GET', '/agents/__proto__')).body).toMatchObject({ description: 'd' });
    expect((await service.call('DELETE', '/agents/__proto__')).status).toBe(409);
  });

  it('takes parameters as deep as a body may be', async () => {
    const service = await startService();
    const parameters = (levels: number) => `${'{"a":'.repeat(levels)}{}${'}'.repeat(levels)}`;
    const body = (levels: number) =>
      `{"tools":[{"type":"function","function":{"name":"t","parameters":${parameters(levels)}}}]}`;
    // The definition, the list, the tool, its function and the innermost object are five more.
    expect((await service.call('PUT', '/agents/a', body(59))).status).toBe(201);
    expect(errorsOf(await service.call('PUT', '/agents/a', body(60)))[0]).toMatch(
      /more than 64 levels deep$/,
    );
  });

  it('needs a body', async () => {
    expect((await (await startService()).call('PUT', '/agents/a')).status).toBe(400);
  });

  it('refuses loops and depths over all agents, also those that a change makes above it', async () => {
    const service = await startService();
    for (const [name, ...subagents] of [['d'], ['c', 'd'], ['b', 'c'], ['a', 'b']]) {
      await service.agent(name ?? '', { subagents });
    }
    await service.agent('e');
    expect(errorsOf(await put(service, 'd', { subagents: ['b'] }))).toEqual([
      '/subagents/0 makes a loop: d -> b -> c -> d',
    ]);
    expect(errorsOf(await put(service, 'd', { subagents: ['e'] }))).toEqual([
      '/subagents/0 leads more than 3 levels below an agent: a -> b -> c -> d -> e',
    ]);
    expect(errorsOf(await put(service, 'x', { subagents: ['e', 'a'] }))).toEqual([
      '/subagents/1 leads more than 3 levels below an agent: x -> a -> b -> c -> d',
    ]);
    await service.agent('a', { systemPrompt: 'the word "subagents" alone' });
    expect((await put(service, 'd', { subagents: ['e'] })).status).toBe(200);
  });

  it('holds from then on: contexts begin with the prompt of now', async () => {
    const service = await startService();
    await service.agent('ferry', { systemPrompt: 'One.' });
    const id = await service.session([{ role: 'user', content: 'hi' }], { agent: 'ferry' });
    const first = async () => (await service.view(id))[0];
    expect(await first()).toEqual({ role: 'system', content: 'One.' });
    await service.agent('ferry', { systemPrompt: 'Two.' });
    expect(await first()).toEqual({ role: 'system', content: 'Two.' });
    await service.agent('ferry', { systemPrompt: ' ' });
    expect(await first()).toEqual({ role: 'user', content: 'hi' });
  });
});

describe('listing agents', () => {
  it('pages from the newest to the oldest', async () => {
    const service = await startService();
    expect((await service.call('GET', '/agents')).body).toEqual({
      data: [],
      next_cursor: null,
      has_more: false,
    });
    for (const name of ['a', 'b', 'c']) await service.agent(name, { description: name });
    await service.agent('a', { description: 'changed' });
    const page = await service.call('GET', '/agents?limit=2');
    expect([page.body.has_more, page.body.data]).toMatchObject([
      true,
      [
        { name: 'c', description: 'c' },
        { name: 'b', description: 'b' },
      ],
    ]);
    const last = await service.call('GET', `/agents?limit=2&cursor=${page.body.next_cursor}`);
    expect([last.body.has_more, last.body.next_cursor, last.body.data]).toMatchObject([
      false,
      null,
      [{ name: 'a', description: 'changed' }],
    ]);
    for (const query of ['limit=0', 'limit=201', 'cursor=x', 'agent=a']) {
      expect([query, (await service.call('GET', `/agents?${query}`)).status]).toEqual([query, 400]);
    }
  });
});

describe('deleting an agent', () => {
  it('leaves nothing of it but its sessions, which go on', async () => {
    const service = await startService();
    await service.agent('ferry', { systemPrompt: 'P', defaultCompaction: { compactionCount: 60 } });
    const id = await service.session([{ role: 'user', content: 'hi' }], { agent: 'ferry' });
    const deleted = await service.call('DELETE', '/agents/ferry');
    expect([deleted.status, deleted.text]).toEqual([204, '']);
    for (const method of ['GET', 'DELETE'] as const) {
      const gone = await service.call(method, '/agents/ferry');
      expect([gone.status, gone.body.code]).toEqual([404, 'AGENT_NOT_FOUND']);
    }
    expect(service.sql('SELECT count(*) AS n FROM agents')).toEqual([{ n: 0 }]);
    expect((await service.call('POST', '/sessions', { agent: 'ferry' })).body.code).toBe('AGENT_NOT_FOUND');
    expect((await service.call('GET', `/sessions/${id}`)).body).toMatchObject({
      agent: 'ferry',
      compact_count: 60,
    });
    expect(await service.view(id)).toEqual([{ role: 'user', content: 'hi' }]);
    const more = await service.call('POST', `/sessions/${id}/messages`, {
      messages: [{ role: 'user', content: '?' }],
    });
    expect(more.status).toBe(201);
    expect((await service.call('GET', '/sessions?agent=ferry')).body.data.map((each) => each.id)).toEqual([
      id,
    ]);
    expect((await put(service, 'ferry')).status).toBe(201);
  });

  it('is refused while another has it as a subagent', async () => {
    const service = await startService();
    await service.agent('a_b');
    // Mentions the name, and is like it to a careless pattern, but has it not as a subagent.
    await service.agent('other', {
      description: 'a_b',
      tools: [{ type: 'function', function: { name: 'a_b' } }],
    });
    await service.agent('axb');
    await service.agent('near', { subagents: ['axb'] });
    await service.agent('guide', { subagents: ['axb', 'a_b'] });
    const refused = await service.call('DELETE', '/agents/a_b');
    expect([refused.status, refused.body.code, refused.body.detail]).toEqual([
      409,
      'AGENT_IN_USE',
      'a_b is a subagent of guide',
    ]);
    expect((await service.call('DELETE', '/agents/axb')).body.detail).toBe(
      'axb is a subagent of guide, near',
    );
    await service.agent('guide');
    expect((await service.call('DELETE', '/agents/a_b')).status).toBe(204);
  });
});

describe('a session of an agent', () => {
  it('takes its percent when it is created, and keeps it', async () => {
    const service = await startService();
    await service.agent('ferry', { defaultCompaction: { compactionCount: 33.3 } });
    await service.agent('plain');
    const percents = async () => {
      const { body } = await service.call('GET', '/sessions');
      return Object.fromEntries(body.data.map(({ id, compact_count }) => [id, compact_count]));
    };
    await service.call('POST', '/sessions', { id: 'own', agent: 'ferry', compactCount: 20 });
    await service.call('POST', '/sessions', { id: 'agents', agent: 'ferry' });
    await service.call('POST', '/sessions', { id: 'default', agent: 'plain' });
    await service.call('POST', '/sessions', { id: 'nobodys', agent: null });
    const before = await percents();
    expect(before).toEqual({ own: 20, agents: 33.3, default: 50, nobodys: 50 });
    await service.agent('ferry', { defaultCompaction: { compactionCount: 80 } });
    await service.agent('plain', { defaultCompaction: { compactionCount: 80 } });
    expect(await percents()).toEqual(before);
  });

  it('is not created for an unknown one', async () => {
    const service = await startService();
    const messages = [{ role: 'user', content: 'hi' }];
    const answer = await service.call('POST', '/sessions', { id: 's', agent: 'nobody', messages });
    expect([answer.status, answer.body.code, answer.body.retryable]).toEqual([404, 'AGENT_NOT_FOUND', false]);
    expect((await service.call('GET', '/sessions/s')).status).toBe(404);
    expect((await service.call('POST', '/sessions', '{"agent":"a\\ud83d"}')).body.code).toBe(
      'AGENT_NOT_FOUND',
    );
    expect(service.sql('SELECT count(*) AS n FROM messages')).toEqual([{ n: 0 }]);
  });
});

describe('the schedule of an agent', () => {
  it('begins when it is set or changed, goes on when it is not, and ends with it', async () => {
    const service = await startService();
    const started = Date.now();
    await service.agent('a');
    expect(tickDue(service, 'a')).toBe(null);
    await service.agent('a', { daemon: { prompt: 'p' } });
    expect(tickDue(service, 'a')).toBe(null);
    await service.agent('a', { daemon: { prompt: 'p', everySeconds: 3_600 } });
    const due = Number(tickDue(service, 'a'));
    expect(due).toBeGreaterThanOrEqual(started + 3_600_000);
    expect(due).toBeLessThanOrEqual(Date.now() + 3_600_000);

    service.sql('UPDATE agents SET tick_due_at = 5');
    await service.agent('a', { description: 'd', daemon: { prompt: 'q', everySeconds: 3_600 } });
    expect(tickDue(service, 'a')).toBe(5);
    await service.agent('a', { daemon: { prompt: 'q', everySeconds: 60 } });
    expect(Number(tickDue(service, 'a'))).toBeGreaterThanOrEqual(started + 60_000);
    expect(Number(tickDue(service, 'a'))).toBeLessThanOrEqual(Date.now() + 60_000);
    await service.agent('a', { daemon: { prompt: 'q' } });
    expect(tickDue(service, 'a')).toBe(null);
    const fresh = await put(service, 'b', { daemon: { prompt: 'p', everySeconds: 1 } });
    expect([fresh.status, Number(tickDue(service, 'b')) >= started + 1_000]).toEqual([201, true]);
  });
});
