import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { chatAt, eventsOf, inTurn, startStrictModel } from '../support/chat.js';
import { assistant, result, system, user } from '../support/messages.js';
import { calling, type StubReply } from '../support/model-stub.js';
import { startService, type TestService } from '../support/service.js';

type Request = { messages: { role: string; content: string }[]; tools?: { function: { name: string } }[] };

/** Agents that are told apart by their prompt; each one's replies come in turn. */
async function startAgents(replies: Readonly<Record<string, readonly StubReply[]>>, variables = {}) {
  const asked: { agent: string; request: Request }[] = [];
  const model = await startStrictModel((prompt, _index, raw) => {
    const request: Request = JSON.parse(raw.body);
    const agent = request.messages[0]?.content ?? '';
    const nth = asked.filter((each) => each.agent === agent).length;
    asked.push({ agent, request });
    return inTurn(...(replies[agent] ?? []))(prompt, nth, raw);
  });
  const service = await startService(chatAt(model.url, model.url, variables));
  const say = (body: object, key?: string) =>
    service.call('POST', '/agents/boss/chat', body, key === undefined ? {} : { 'idempotency-key': key });
  return { service, model, asked, say };
}

const define = (service: TestService, name: string, more: object = {}) =>
  service.agent(name, { systemPrompt: name, ...more });
const sessions = (service: TestService) =>
  service.sql(
    `SELECT id, kind, agent, status, parent_session_id AS parent, compact_count AS percent, message_count AS count,
       turn_owner AS owner, turn_position AS turn FROM sessions ORDER BY pk`,
  );
const ask = (id: string, name: string, input = `for ${name}`) =>
  calling([id, name, JSON.stringify({ input })]);
const errorOf = (code: string) => expect.stringMatching(`^{"error":"${code}: .+"}$`);

describe('a subagent', () => {
  it('runs on a session of its own, which is closed, and its last text is the result', async () => {
    const { service, asked, say } = await startAgents({
      boss: [ask('c1', 'helper', 'Find a berth.'), { content: 'Done.' }],
      helper: [{ content: 'Berth 7.', usage: [50, 5] }],
    });
    await define(service, 'helper', {
      description: 'Finds berths',
      defaultCompaction: { compactionCount: 33.3 },
      tools: [{ type: 'function', function: { name: 'lookup' } }],
    });
    await define(service, 'boss', { subagents: ['helper'], defaultCompaction: { compactionCount: 70 } });

    const answer = await say({ message: 'Go.' });

    const { sessionId } = answer.body;
    expect(answer.body).toMatchObject({
      status: 'completed',
      message: assistant('Done.'),
      usage: { inputTokens: 200, outputTokens: 20 },
    });
    const parameters = {
      type: 'object',
      properties: { input: { type: 'string', description: expect.any(String) } },
      required: ['input'],
    };
    expect(asked.map(({ agent, request }) => [agent, request.tools])).toEqual([
      ['boss', [{ type: 'function', function: { name: 'helper', description: 'Finds berths', parameters } }]],
      // Nobody is there to run the tools of a subagent.
      ['helper', undefined],
      ['boss', expect.anything()],
    ]);
    expect(asked[1]?.request.messages).toEqual([system('helper'), user('Find a berth.')]);
    expect(asked[2]?.request.messages.at(-1)).toEqual(result('c1', 'Berth 7.'));
    expect(await service.messages(sessionId)).toHaveLength(4);
    const idle = { owner: null, turn: null };
    const [parent, child] = sessions(service);
    expect(parent).toEqual({
      id: sessionId,
      kind: 'chat',
      agent: 'boss',
      status: 'open',
      parent: null,
      percent: 70,
      count: 4,
      ...idle,
    });
    expect(child).toEqual({
      id: expect.stringMatching(/^sess_/),
      kind: 'subagent',
      agent: 'helper',
      status: 'closed',
      parent: sessionId,
      percent: 33.3,
      count: 2,
      ...idle,
    });
    const { body } = await service.call('GET', `/sessions/${Object(child).id}`);
    expect(body).toMatchObject({ input_tokens: 50, output_tokens: 5, closed_at: expect.any(String) });
  });

  it('may have subagents, down to the third level', async () => {
    const { service, asked, say } = await startAgents({
      boss: [ask('c1', 'one'), { content: 'Done.' }],
      one: [ask('c1', 'two'), { content: 'from one' }],
      two: [ask('c1', 'three'), { content: 'from two' }],
      three: [{ content: 'from three' }],
    });
    await define(service, 'three');
    await define(service, 'two', { subagents: ['three'] });
    await define(service, 'one', { subagents: ['two'] });
    await define(service, 'boss', { subagents: ['one'] });
    const { sessionId } = (await say({ message: 'Go.' })).body;
    expect(asked.map(({ agent }) => agent)).toEqual(['boss', 'one', 'two', 'three', 'two', 'one', 'boss']);
    const all = sessions(service).map((row): { id: string; parent: string | null } => Object(row));
    expect(all.map(({ parent }) => parent)).toEqual([null, ...all.slice(0, 3).map(({ id }) => id)]);
    expect(all[0]?.id).toBe(sessionId);
    expect((await service.messages(sessionId))[2]).toEqual(result('c1', 'from one'));
    expect(sessions(service)).toMatchObject([
      { status: 'open' },
      ...['one', 'two', 'three'].map((agent) => ({ agent, status: 'closed' })),
    ]);
  });

  it.each<[string, StubReply, string]>([
    ['whose endpoint fails', { status: 500, body: { error: { message: 'broken' } } }, 'MODEL_UNAVAILABLE'],
    ['that answers with nothing', { content: '' }, 'EMPTY_REPLY'],
    ['that uses up its steps', calling(['x', 'nothing']), 'STEP_LIMIT_REACHED'],
  ])('%s gives a result that says so', async (_, reply, code) => {
    const { service, asked, say } = await startAgents({
      boss: [ask('c1', 'helper'), { content: 'Done.' }],
      helper: [reply],
    });
    await define(service, 'helper', { maxSteps: 2 });
    await define(service, 'boss', { subagents: ['helper'] });
    const answer = await say({ message: 'Go.' });
    expect(answer.body).toMatchObject({ status: 'completed', message: assistant('Done.') });
    expect(asked.at(-1)?.request.messages.at(-1)).toEqual(result('c1', errorOf(code)));
    expect(sessions(service)[1]).toMatchObject({ status: 'closed', owner: null, turn: null });
  });

  it('that calls a tool that nobody runs is told so, and goes on', async () => {
    const { service, asked, say } = await startAgents({
      boss: [ask('c1', 'helper'), { content: 'Done.' }],
      helper: [calling(['x1', 'lookup'], ['x2', 'book']), { content: 'helped' }],
    });
    await define(service, 'helper');
    await define(service, 'boss', { subagents: ['helper'] });
    await say({ message: 'Go.' });
    const told = (id: string, name: string) =>
      result(id, `{"error":"There is nobody to run the tool ${name} here"}`);
    expect(asked[2]?.request.messages.slice(3)).toEqual([told('x1', 'lookup'), told('x2', 'book')]);
  });

  it('called beside a tool of the caller runs first; the caller is asked for the rest', async () => {
    const { service, say } = await startAgents({
      boss: [calling(['c1', 'lookup'], ['c2', 'helper', '{"input":"help"}']), { content: 'Done.' }],
      helper: [{ content: 'helped' }],
    });
    await define(service, 'helper');
    await define(service, 'boss', {
      subagents: ['helper'],
      tools: [{ type: 'function', function: { name: 'lookup' } }],
    });
    const first = await say({ message: 'Go.' });
    const { sessionId } = first.body;
    expect(first.body).toMatchObject({ status: 'requires_action', toolCalls: [{ id: 'c1' }] });
    expect(Object(first.body).toolCalls).toHaveLength(1);
    const refused = await say({ sessionId, toolResults: [{ toolCallId: 'c2', content: 'mine' }] });
    expect(refused.body.code).toBe('TOOL_CALL_CLOSED');
    const done = await say({ sessionId, toolResults: [{ toolCallId: 'c1', content: 'r1' }] });
    expect(done.body).toMatchObject({ status: 'completed' });
    expect((await service.messages(sessionId)).slice(2, 4)).toEqual([
      result('c2', 'helped'),
      result('c1', 'r1'),
    ]);
  });

  it.each([
    ['{"input":"as asked"}', 'as asked'],
    ['{"task":"other"}', '{"task":"other"}'],
    ['no JSON', 'no JSON'],
  ])('with the arguments %s is asked %s', async (args, input) => {
    const { service, asked, say } = await startAgents({
      boss: [calling(['c1', 'helper', args]), { content: 'Done.' }],
      helper: [{ content: 'helped' }],
    });
    await define(service, 'helper');
    await define(service, 'boss', { subagents: ['helper'] });
    expect((await say({ message: 'Go.' })).status).toBe(200);
    expect(asked[1]?.request.messages.at(-1)).toEqual(user(input));
  });

  it('is told of in the stream of the one that called it, without its own words', async () => {
    const { service, say } = await startAgents({
      boss: [ask('c1', 'helper', 'x'), { content: 'Done.' }],
      helper: [{ content: 'helped' }],
    });
    await define(service, 'helper');
    await define(service, 'boss', { subagents: ['helper'] });
    const events = eventsOf((await say({ message: 'Go.', stream: true })).text);
    const { message } = ask('c1', 'helper', 'x');
    expect(events.slice(1, -1)).toEqual([
      { event: 'message-completed', data: { message: { role: 'assistant', content: null, ...message } } },
      {
        event: 'tool-called',
        data: { id: 'c1', name: 'helper', arguments: '{"input":"x"}', by: 'subagent' },
      },
      { event: 'message-completed', data: { message: result('c1', 'helped') } },
      { event: 'message-delta', data: { text: 'Done.' } },
      { event: 'message-completed', data: { message: assistant('Done.') } },
    ]);
  });

  it('ends with the session that called it', async () => {
    const { service, model, say } = await startAgents({
      boss: [ask('c1', 'one')],
      one: [ask('c1', 'two')],
      two: [{ hang: true }],
    });
    await define(service, 'two');
    await define(service, 'one', { subagents: ['two'] });
    await define(service, 'boss', { subagents: ['one'] });
    await service.session([], { id: 's' });
    const chatting = say({ sessionId: 's', message: 'Go.' });
    while (model.bodies.length < 3) await sleep(5);
    const deletedAt = performance.now();
    await service.call('DELETE', '/sessions/s');
    expect((await chatting).body.code).toBe('SESSION_NOT_FOUND');
    expect((await model.server.peerClosed(2)) - deletedAt).toBeLessThan(1_000);
    const closed = { status: 'closed', owner: null, turn: null };
    expect(sessions(service)).toMatchObject([
      { agent: 'one', ...closed },
      { agent: 'two', ...closed },
    ]);
  });

  it('whose session is deleted gives a result that says so', async () => {
    const { service, model, asked, say } = await startAgents({
      boss: [ask('c1', 'helper'), { content: 'Done.' }],
      helper: [{ hang: true }],
    });
    await define(service, 'helper');
    await define(service, 'boss', { subagents: ['helper'] });
    const chatting = say({ message: 'Go.' });
    while (model.bodies.length < 2) await sleep(5);
    const child = Object(sessions(service)[1]).id;
    expect((await service.call('DELETE', `/sessions/${child}`)).status).toBe(204);
    expect((await chatting).body).toMatchObject({ status: 'completed' });
    expect(asked.at(-1)?.request.messages.at(-1)).toEqual(result('c1', errorOf('SESSION_NOT_FOUND')));
  });
});
