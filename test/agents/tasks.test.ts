import { describe, expect, it } from 'vitest';
import { calls, result, turns, user } from '../support/messages.js';
import { startModelStub } from '../support/model-stub.js';
import { modelAt, startService } from '../support/service.js';
import { ask, calling, eventsOf, LOOKUP, newTask, until } from './task-support.js';

const withModel = (url: string) => modelAt(url, { MAIN_MODEL: 'stub-1', MAIN_RETRIES: '0' });

describe('a task', () => {
  it('runs by itself on a session of its own', async () => {
    const stub = await startModelStub(() => ({ content: 'Done.' }));
    const service = await startService(withModel(stub.url));
    await service.agent('clerk', { systemPrompt: 'You sell.', defaultCompaction: { compactionCount: 33.3 } });
    const created = await ask(service, 'POST', '/agents/clerk/tasks', { input: 'Go.' });
    expect([created.status, created.headers['location']]).toEqual([202, `/tasks/${created.body.id}`]);
    expect(created.body).toEqual({
      id: expect.stringMatching(/^task_/),
      agent: 'clerk',
      kind: 'task',
      status: 'queued',
      session_id: expect.stringMatching(/^sess_/),
      input: 'Go.',
      tool_calls: null,
      result: null,
      finish_reason: null,
      error: null,
      usage: { input_tokens: 0, output_tokens: 0 },
      created_at: expect.any(String),
      updated_at: expect.any(String),
      started_at: null,
      finished_at: null,
    });
    const done = await until(service, created.body.id, 'completed');
    expect(done).toMatchObject({
      result: { role: 'assistant', content: 'Done.' },
      finish_reason: 'stop',
      usage: { input_tokens: 100, output_tokens: 10 },
      started_at: expect.any(String),
      finished_at: expect.any(String),
    });
    expect(stub.bodies.map(({ messages }) => messages)).toEqual([
      [{ role: 'system', content: 'You sell.' }, user('Go.')],
    ]);
    const session = (await service.call('GET', `/sessions/${done.session_id}`)).body;
    expect(session).toMatchObject({ kind: 'task', agent: 'clerk', status: 'open', compact_count: 33.3 });
    expect(await service.messages(done.session_id)).toEqual([
      user('Go.'),
      { role: 'assistant', content: 'Done.' },
    ]);
    expect(service.sql('SELECT turn_owner, turn_position FROM sessions')).toEqual([
      { turn_owner: null, turn_position: null },
    ]);
  });

  it('on an existing session sends system messages, the pair, the tail and its input, and nothing else', async () => {
    const stub = await startModelStub(() => ({ content: 'S1' }));
    const service = await startService(withModel(stub.url));
    await service.agent('clerk', { systemPrompt: 'You sell.' });
    const history = turns(10, 100);
    const id = await service.session([{ role: 'system', content: 'House rules.' }, ...history]);
    await service.compact(id);
    const context = await service.view(id);
    const task = await newTask(service, 'clerk', {
      input: [{ type: 'text', text: 'And now?' }],
      sessionId: id,
    });
    await until(service, task, 'completed');
    const sent = stub.bodies.at(-1)?.messages;
    expect(sent?.slice(0, 2)).toEqual([
      { role: 'system', content: 'You sell.' },
      { role: 'system', content: 'House rules.' },
    ]);
    const pair = context.slice(1, context.length - 5);
    expect(sent?.slice(2)).toEqual([
      ...pair,
      ...history.slice(5),
      { role: 'user', content: [{ type: 'text', text: 'And now?' }] },
    ]);
    expect(JSON.stringify(sent).split('S1').length - 1).toBe(1);
    const stored = await service.messages(id);
    expect(stored).toEqual([
      { role: 'system', content: 'House rules.' },
      ...history,
      { role: 'user', content: [{ type: 'text', text: 'And now?' }] },
      { role: 'assistant', content: 'S1' },
    ]);
    expect(service.sql('SELECT count(*) AS n FROM messages')).toEqual([{ n: 13 }]);
  });

  it('waits for results, lets other turns run meanwhile, and goes on with them', async () => {
    const replies = [calling('c1', 'c2'), { content: 'Chatting.' }, { content: 'Both found.' }];
    const stub = await startModelStub((_, index) => replies[index] ?? {});
    const service = await startService(withModel(stub.url));
    await service.agent('clerk', LOOKUP);
    const id = await newTask(service, 'clerk', { input: 'Look.' });
    const waiting = await until(service, id, 'waiting');
    expect(waiting.tool_calls).toEqual([
      { id: 'c1', type: 'function', function: { name: 'lookup', arguments: '{}' } },
      { id: 'c2', type: 'function', function: { name: 'lookup', arguments: '{}' } },
    ]);
    expect(waiting.finished_at).toBeNull();
    const { session_id: sessionId } = waiting;
    const chat = await service.call('POST', '/agents/clerk/chat', { sessionId, message: 'Hello?' });
    expect([chat.status, chat.body.status]).toEqual([200, 'completed']);
    // Nothing but all results, or a message, lets it go on.
    const toolResults = [
      { toolCallId: 'c2', content: 'two' },
      { toolCallId: 'c1', content: 'one' },
    ];
    for (const [body, status, code] of [
      [undefined, 400, 'VALIDATION_FAILED'],
      [{}, 400, 'VALIDATION_FAILED'],
      [{ toolResults: toolResults.slice(1) }, 400, 'VALIDATION_FAILED'],
      [{ toolResults: [{ toolCallId: 'c1' }] }, 400, 'VALIDATION_FAILED'],
      [{ toolResults: [...toolResults, ...toolResults] }, 400, 'VALIDATION_FAILED'],
      [{ toolResults: [...toolResults, { toolCallId: 'c3', content: 'x' }] }, 409, 'TOOL_CALL_CLOSED'],
    ] as const) {
      const refused = await ask(service, 'POST', `/tasks/${id}/resume`, body);
      expect([refused.status, refused.body.code]).toEqual([status, code]);
    }
    expect((await ask(service, 'GET', `/tasks/${id}`)).body).toEqual(waiting);
    const chatResults = await service.call('POST', '/agents/clerk/chat', { sessionId, toolResults });
    expect([chatResults.status, chatResults.body.code]).toEqual([409, 'TOOL_CALL_CLOSED']);

    const resumed = await ask(service, 'POST', `/tasks/${id}/resume`, { toolResults });
    expect([resumed.status, resumed.body.status, resumed.headers['location']]).toEqual([
      202,
      'queued',
      `/tasks/${id}`,
    ]);
    const done = await until(service, id, 'completed');
    expect(done.usage).toEqual({ input_tokens: 200, output_tokens: 20 });
    expect(done.result?.content).toBe('Both found.');
    expect(stub.bodies[2]?.messages.slice(0, 6)).toEqual([
      user('Look.'),
      { ...calls(['c1', 'c2']) },
      result('c2', 'two'),
      result('c1', 'one'),
      user('Hello?'),
      { role: 'assistant', content: 'Chatting.' },
    ]);
    expect(await service.messages(sessionId)).toEqual([
      user('Look.'),
      calls(['c1', 'c2']),
      user('Hello?'),
      { role: 'assistant', content: 'Chatting.' },
      result('c2', 'two'),
      result('c1', 'one'),
      { role: 'assistant', content: 'Both found.' },
    ]);
    // The same resume again, whatever has become of the task: the task as it is, and nothing runs.
    const again = await ask(service, 'POST', `/tasks/${id}/resume`, { toolResults });
    expect([again.status, again.body]).toEqual([202, done]);
    const other = await ask(service, 'POST', `/tasks/${id}/resume`, { message: 'More.' });
    expect([other.status, other.body.code]).toEqual([409, 'TASK_NOT_RESUMABLE']);
    expect(stub.prompts.length).toBe(3);
    expect(service.sql('SELECT count(*) AS n FROM messages')).toEqual([{ n: 7 }]);
  });

  it('goes on with a message in place of results', async () => {
    const replies = [calling('c1'), { content: 'Without, then.' }];
    const stub = await startModelStub((_, index) => replies[index] ?? {});
    const service = await startService(withModel(stub.url));
    await service.agent('clerk', LOOKUP);
    const id = await newTask(service, 'clerk', { input: 'Look.' });
    await until(service, id, 'waiting');
    await ask(service, 'POST', `/tasks/${id}/resume`, { message: 'Never mind.' });
    const done = await until(service, id, 'completed');
    expect(await service.messages(done.session_id)).toEqual([
      user('Look.'),
      calls(['c1']),
      user('Never mind.'),
      { role: 'assistant', content: 'Without, then.' },
    ]);
  });

  it('goes on with some results and a message: the other calls are abandoned', async () => {
    const replies = [calling('c1', 'c2'), { content: 'So be it.' }];
    const stub = await startModelStub((_, index) => replies[index] ?? {});
    const service = await startService(withModel(stub.url));
    await service.agent('clerk', LOOKUP);
    const id = await newTask(service, 'clerk', { input: 'Look.' });
    await until(service, id, 'waiting');
    const toolResults = [{ toolCallId: 'c2', content: [{ type: 'text', text: 'two' }] }];
    await ask(service, 'POST', `/tasks/${id}/resume`, { toolResults, message: 'That is all.' });
    const done = await until(service, id, 'completed');
    const two = { role: 'tool', tool_call_id: 'c2', content: [{ type: 'text', text: 'two' }] };
    expect(await service.messages(done.session_id)).toEqual([
      user('Look.'),
      calls(['c1', 'c2']),
      two,
      user('That is all.'),
      { role: 'assistant', content: 'So be it.' },
    ]);
    expect(stub.bodies[1]?.messages.map(({ role }) => role)).toEqual([
      'user',
      'assistant',
      'tool',
      'tool',
      'user',
    ]);
  });

  it('runs its subagents itself, and waits for the other calls beside them', async () => {
    const both = {
      content: null,
      finish: 'tool_calls',
      message: {
        tool_calls: [
          { id: 'c1', type: 'function', function: { name: 'scout', arguments: '{"input":"Scout."}' } },
          { id: 'c2', type: 'function', function: { name: 'lookup', arguments: '{}' } },
        ],
      },
    };
    const replies = [both, { content: 'Scouted.' }, { content: 'Done.' }];
    const stub = await startModelStub((_, index) => replies[index] ?? {});
    const service = await startService(withModel(stub.url));
    await service.agent('scout');
    await service.agent('clerk', { ...LOOKUP, subagents: ['scout'] });
    const id = await newTask(service, 'clerk', { input: 'Look.' });
    const waiting = await until(service, id, 'waiting');
    expect(waiting.tool_calls?.map((call) => call.id)).toEqual(['c2']);
    await ask(service, 'POST', `/tasks/${id}/resume`, {
      toolResults: [{ toolCallId: 'c2', content: 'two' }],
    });
    await until(service, id, 'completed');
    const events = eventsOf((await service.call('GET', `/tasks/${id}/events`)).text);
    expect(events.map(({ event }) => event)).toEqual([
      'task-queued',
      'task-running',
      'message-completed',
      'tool-called',
      'tool-called',
      'message-completed',
      'task-waiting',
      'task-queued',
      'task-running',
      'message-completed',
      'task-completed',
    ]);
    expect(events[5]?.data).toEqual({ message: result('c1', 'Scouted.') });
    expect(service.sql('SELECT count(*) AS n FROM messages')).toEqual([{ n: 7 }]);
  });

  it('tells its events in order, from any point on, and ends when it rests', async () => {
    const replies = [calling('c1'), { content: 'Found.' }];
    const stub = await startModelStub((_, index) => ({ ...replies[index], delayMs: 100 }));
    const service = await startService(withModel(stub.url));
    await service.agent('clerk', LOOKUP);
    const id = await newTask(service, 'clerk', { input: 'Look.' });
    const following = service.call('GET', `/tasks/${id}/events`);
    await until(service, id, 'waiting');
    await ask(service, 'POST', `/tasks/${id}/resume`, {
      toolResults: [{ toolCallId: 'c1', content: 'one' }],
    });
    const followed = await following;
    const call = { id: 'c1', type: 'function', function: { name: 'lookup', arguments: '{}' } };
    const answer = { role: 'assistant', content: 'Found.' };
    const expected = [
      ['task-queued', { status: 'queued' }],
      ['task-running', { status: 'running' }],
      ['message-completed', { message: calls(['c1']) }],
      ['tool-called', { id: 'c1', name: 'lookup', arguments: '{}', by: 'caller' }],
      ['task-waiting', { status: 'waiting', tool_calls: [call] }],
      ['task-queued', { status: 'queued' }],
      ['task-running', { status: 'running' }],
      ['message-completed', { message: answer }],
      ['task-completed', { status: 'completed', result: answer, finish_reason: 'stop' }],
    ].map(([event, data], index) => ({ id: index, event, data }));
    expect(followed.headers).toMatchObject({
      'content-type': 'text/event-stream; charset=utf-8',
      'cache-control': 'no-cache, no-transform',
      'x-accel-buffering': 'no',
    });
    expect(eventsOf(followed.text)).toEqual(expected);
    const from = async (last: string) =>
      service.call('GET', `/tasks/${id}/events`, undefined, { 'last-event-id': last });
    expect(eventsOf((await from('5')).text)).toEqual(expected.slice(6));
    expect((await from('8')).status).toBe(204);
    expect((await from('x')).status).toBe(400);
    expect((await service.call('GET', '/tasks/task_none/events')).status).toBe(404);
  });

  it('runs after the turn at work on its session, in the order of creation', async () => {
    const stub = await startModelStub((prompt) => ({
      content: `Re: ${prompt}`,
      delayMs: prompt === 'chat' ? 500 : 50,
    }));
    const service = await startService(withModel(stub.url));
    service.app.services.tasks.start();
    await service.agent('clerk');
    const sessionId = await service.session([user('Hi.'), { role: 'assistant', content: 'Hi.' }]);
    const chat = service.call('POST', '/agents/clerk/chat', { sessionId, message: 'chat' });
    while (stub.prompts.length === 0) await new Promise((resolve) => setTimeout(resolve, 5));
    const first = await newTask(service, 'clerk', { sessionId, input: 'first' });
    const second = await newTask(service, 'clerk', { sessionId, input: 'second' });
    // One that need not wait is not held up.
    const elsewhere = await newTask(service, 'clerk', { input: 'elsewhere' });
    await until(service, elsewhere, 'completed');
    expect((await ask(service, 'GET', `/tasks/${first}`)).body.status).toBe('queued');
    expect((await chat).status).toBe(200);
    await until(service, second, 'completed');
    await until(service, first, 'completed');
    expect((await service.messages(sessionId)).slice(2).map(({ content }) => content)).toEqual([
      'chat',
      'Re: chat',
      'first',
      'Re: first',
      'second',
      'Re: second',
    ]);
  });

  it('is listed, newest first, by agent, state, kind and session', async () => {
    const stub = await startModelStub((prompt) => (prompt === 'wait' ? calling('c') : { content: 'ok' }));
    const service = await startService(withModel(stub.url));
    await service.agent('clerk', { ...LOOKUP, daemon: { prompt: 'Look around.' } });
    await service.agent('guide');
    const one = await newTask(service, 'clerk', { input: 'wait' });
    const two = await newTask(service, 'guide', { input: 'x' });
    const tick = (await ask(service, 'POST', '/agents/clerk/ticks')).body.id;
    const { session_id } = await until(service, one, 'waiting');
    await until(service, two, 'completed');
    await until(service, tick, 'completed');
    const ids = async (query: string) =>
      (await ask(service, 'GET', `/tasks?${query}`)).body.data.map(({ id }) => id);
    expect(await ids('')).toEqual([tick, two, one]);
    expect(await ids('agent=clerk')).toEqual([tick, one]);
    expect(await ids('status=waiting')).toEqual([one]);
    expect(await ids('kind=tick')).toEqual([tick]);
    expect(await ids(`sessionId=${session_id}`)).toEqual([one]);
    const page = await service.call('GET', '/tasks?limit=2');
    expect(page.body.has_more).toBe(true);
    expect(await ids(`limit=2&cursor=${page.body.next_cursor}`)).toEqual([one]);
    expect((await service.call('GET', '/tasks?status=done')).status).toBe(400);
  });
});

describe('creating a task', () => {
  it('is refused for what is not there, and for a closed session', async () => {
    const stub = await startModelStub(() => ({ content: 'ok' }));
    const service = await startService(withModel(stub.url));
    await service.agent('clerk');
    const closed = await service.session([user('x')]);
    await service.call('POST', `/sessions/${closed}/close`);
    for (const [path, body, status, code] of [
      ['/agents/nobody/tasks', { input: 'x' }, 404, 'AGENT_NOT_FOUND'],
      ['/agents/clerk/tasks', { input: 'x', sessionId: 'none' }, 404, 'SESSION_NOT_FOUND'],
      ['/agents/clerk/tasks', { input: 'x', sessionId: closed }, 400, 'SESSION_CLOSED'],
      ['/agents/clerk/tasks', { input: '' }, 400, 'VALIDATION_FAILED'],
      ['/agents/clerk/tasks', {}, 400, 'VALIDATION_FAILED'],
      ['/agents/clerk/tasks', { input: 'x', more: 1 }, 400, 'VALIDATION_FAILED'],
      ['/agents/nobody/ticks', undefined, 404, 'AGENT_NOT_FOUND'],
      ['/agents/clerk/ticks', undefined, 400, 'VALIDATION_FAILED'],
    ] as const) {
      const refused = await ask(service, 'POST', path, body);
      expect([path, refused.status, refused.body.code]).toEqual([path, status, code]);
    }
    expect(service.sql('SELECT count(*) AS n FROM tasks')).toEqual([{ n: 0 }]);
    expect(service.sql('SELECT count(*) AS n FROM sessions')).toEqual([{ n: 1 }]);
    expect(stub.prompts).toEqual([]);
  });

  it('without a model is refused, and stores nothing', async () => {
    const service = await startService();
    await service.agent('clerk');
    const refused = await ask(service, 'POST', '/agents/clerk/tasks', { input: 'x' });
    expect([refused.status, refused.body.code]).toEqual([503, 'MODEL_NOT_CONFIGURED']);
    expect(service.sql('SELECT count(*) AS n FROM tasks')).toEqual([{ n: 0 }]);
  });

  it('resuming and ticking with a key are done once', async () => {
    const replies = [calling('c1'), { content: 'ok' }];
    const stub = await startModelStub((_, index) => replies[index] ?? { content: 'tick' });
    const service = await startService(withModel(stub.url));
    await service.agent('clerk', { ...LOOKUP, daemon: { prompt: 'Look around.' } });
    const twice = async (path: string, body: object | undefined, key: string) => {
      const headers = { 'idempotency-key': key };
      const [a, b] = await Promise.all([
        ask(service, 'POST', path, body, headers),
        ask(service, 'POST', path, body, headers),
      ]);
      expect([a.status, b.status, b.body]).toEqual([202, 202, a.body]);
      expect([a.headers['idempotency-replayed'], b.headers['idempotency-replayed']].sort()).toEqual([
        'true',
        undefined,
      ]);
      return a.body.id;
    };
    const id = await twice('/agents/clerk/tasks', { input: 'x' }, 'k1');
    await until(service, id, 'waiting');
    await twice(`/tasks/${id}/resume`, { toolResults: [{ toolCallId: 'c1', content: 'r' }] }, 'k2');
    await until(service, id, 'completed');
    await until(service, await twice('/agents/clerk/ticks', undefined, 'k3'), 'completed');
    expect(stub.prompts.length).toBe(3);
    expect(service.sql('SELECT count(*) AS n FROM tasks')).toEqual([{ n: 2 }]);
    const reused = await ask(
      service,
      'POST',
      '/agents/clerk/tasks',
      { input: 'y' },
      { 'idempotency-key': 'k1' },
    );
    expect([reused.status, reused.body.code]).toEqual([422, 'IDEMPOTENCY_KEY_REUSED']);
  });
});
