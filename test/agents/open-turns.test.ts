import { describe, expect, it } from 'vitest';
import { calls, result, text, turns, user } from '../support/messages.js';
import { startModelStub } from '../support/model-stub.js';
import { modelAt, startService } from '../support/service.js';
import { ask, calling, LOOKUP, newTask, until } from './task-support.js';

const withModel = (url: string, variables = {}) =>
  modelAt(url, { MAIN_MODEL: 'stub-1', MAIN_RETRIES: '0', ...variables });
const DOWN = { status: 401, body: { error: { message: 'no such key' } } };
const ANSWER = { content: 'Done.', usage: null };

/** A service with the agent `clerk`, whose model gives these replies one after another, and the last for ever. */
async function serviceOf(replies: readonly object[], agent: object = LOOKUP) {
  const stub = await startModelStub((_, index) => replies[Math.min(index, replies.length - 1)] ?? {});
  const summaries = await startModelStub((_, index) => ({ content: text(300, `SUM-${index} `) }));
  const service = await startService(withModel(stub.url, { COMPACT_BASE_URL: summaries.url }));
  await service.agent('clerk', agent);
  const say = (body: object) => service.call('POST', '/agents/clerk/chat', body);
  return { service, stub, summaries, say };
}

describe('the question of a task that waits again and again', () => {
  it('is in each request once, and in no summary while the task is at work', async () => {
    const rounds = 8;
    const replies = [
      ...Array.from({ length: rounds }, (_, n) => ({ ...calling(`c${n}`), usage: null })),
      ANSWER,
    ];
    const { service, stub, summaries } = await serviceOf(replies, {
      ...LOOKUP,
      defaultCompaction: { compactionCount: 50, auto: { maxTokens: 1_200 } },
    });
    const id = await newTask(service, 'clerk', { input: 'QUESTION-3: find the berth' });
    for (let round = 0; round < rounds; round += 1) {
      await until(service, id, 'waiting');
      const toolResults = [{ toolCallId: `c${round}`, content: text(1_500, `RESULT-${round} `) }];
      expect((await ask(service, 'POST', `/tasks/${id}/resume`, { toolResults })).status).toBe(202);
    }
    const { session_id: session } = await until(service, id, 'completed');
    expect(summaries.prompts.length).toBeGreaterThan(0);
    for (const prompt of summaries.prompts) expect(prompt).not.toContain('QUESTION-3');
    for (const { messages } of stub.bodies) {
      expect(JSON.stringify(messages).split('QUESTION-3')).toHaveLength(2);
    }
    expect((await service.call('GET', `/sessions/${session}`)).body.message_count).toBe(2 + 2 * rounds);
  });
});

describe('the calls of a waiting task', () => {
  it('are not handed out by a chat without a message, and take no results from an append', async () => {
    const { service, stub, say } = await serviceOf([calling('c1'), ANSWER]);
    const id = await newTask(service, 'clerk', { input: 'Go.' });
    const { session_id: sessionId } = await until(service, id, 'waiting');
    const chat = await say({ sessionId });
    expect([chat.status, chat.body.code]).toEqual([409, 'NOTHING_TO_ANSWER']);
    const append = await service.call('POST', `/sessions/${sessionId}/messages`, {
      messages: [result('c1', 'r')],
    });
    expect([append.status, append.body.code]).toEqual([409, 'TOOL_CALL_CLOSED']);
    expect(stub.bodies).toHaveLength(1);
    const toolResults = [{ toolCallId: 'c1', content: 'r' }];
    expect((await ask(service, 'POST', `/tasks/${id}/resume`, { toolResults })).status).toBe(202);
    await until(service, id, 'completed');
    expect(await service.messages(sessionId)).toHaveLength(4);
  });
});

describe('a failed task whose turn a chat went on with', () => {
  it('cannot be resumed without a message, and leaves the chat its calls', async () => {
    const { service, say } = await serviceOf([DOWN, calling('c1'), ANSWER]);
    const id = await newTask(service, 'clerk', { input: 'Go.' });
    const { session_id: sessionId } = await until(service, id, 'failed');
    expect((await say({ sessionId })).body.status).toBe('requires_action');
    const resumed = await ask(service, 'POST', `/tasks/${id}/resume`);
    expect([resumed.status, resumed.body.code]).toEqual([409, 'SESSION_CHANGED']);
    const done = await say({ sessionId, toolResults: [{ toolCallId: 'c1', content: 'r' }] });
    expect([done.status, done.body.status]).toEqual([200, 'completed']);
  });

  it('fails when it was resumed before the chat, and begins after it', async () => {
    const { service, say } = await serviceOf([DOWN, calling('c1'), ANSWER]);
    const id = await newTask(service, 'clerk', { input: 'Go.' });
    const { session_id: sessionId } = await until(service, id, 'failed');
    expect((await say({ sessionId })).body.status).toBe('requires_action');
    // As a resume would have left it that came in before the chat, while all workers were busy.
    service.sql(`UPDATE tasks SET status = 'queued' WHERE id = '${id}'`);
    const next = await service.session([user('Another one.')]);
    await newTask(service, 'clerk', { sessionId: next, input: 'Wakes the queue.' });
    const failed = await until(service, id, 'failed');
    expect(failed.error?.code).toBe('SESSION_CHANGED');
    const done = await say({ sessionId, toolResults: [{ toolCallId: 'c1', content: 'r' }] });
    expect([done.status, done.body.status]).toEqual([200, 'completed']);
  });
});

describe('calls of one reply with one id', () => {
  it('get ids of their own, and each its result', async () => {
    const twice = calls(['x', 'x']);
    const { service, stub, say } = await serviceOf([
      { content: null, message: { tool_calls: twice.tool_calls }, finish: 'tool_calls', usage: null },
      ANSWER,
    ]);
    const asked = await say({ message: 'Go.' });
    expect(asked.body.toolCalls?.map(({ id }) => id)).toEqual(['x', 'x_2']);
    const sessionId = asked.body.sessionId;
    const toolResults = [
      { toolCallId: 'x_2', content: 'second' },
      { toolCallId: 'x', content: 'first' },
    ];
    expect((await say({ sessionId, toolResults })).status).toBe(200);
    const results = stub.bodies[1]?.messages.filter(({ role }) => role === 'tool');
    expect(results).toEqual(
      expect.arrayContaining([
        { role: 'tool', tool_call_id: 'x', content: 'first' },
        { role: 'tool', tool_call_id: 'x_2', content: 'second' },
      ]),
    );
    expect(await service.messages(sessionId)).toHaveLength(5);
  });

  it('without a name are refused, and nothing of them is stored', async () => {
    const nameless = [{ id: 'c1', type: 'function', function: { name: '', arguments: '{}' } }];
    const { service, say } = await serviceOf([{ content: null, message: { tool_calls: nameless } }]);
    const answer = await say({ message: 'Go.' });
    expect([answer.status, answer.body.code]).toEqual([502, 'EMPTY_REPLY']);
    expect(await service.messages(answer.body.sessionId)).toEqual([user('Go.')]);
  });
});

describe('automatic compaction at an endpoint that counts more than the estimate', () => {
  it('stops after three rounds that gain nothing, and each of them raises the version', async () => {
    const stub = await startModelStub((_, __, { body }) => ({
      content: 'ok',
      usage: [Math.ceil(body.length / 3), 1],
    }));
    const summaries = await startModelStub(() => ({ content: 'A summary as long as the two.' }));
    const service = await startService(withModel(stub.url, { COMPACT_BASE_URL: summaries.url }));
    await service.agent('clerk', {
      systemPrompt: text(5_000),
      defaultCompaction: { compactionCount: 50, auto: { maxTokens: 800 } },
    });
    const id = await service.session(turns(2, 30), { agent: 'clerk' });
    for (let turn = 0; turn < 10; turn += 1) {
      const answer = await service.call('POST', '/agents/clerk/chat', { sessionId: id, message: 'And now?' });
      expect(answer.status).toBe(200);
    }
    expect(summaries.prompts).toHaveLength(3);
    const { auto_compaction } = (await service.call('GET', `/sessions/${id}`)).body;
    expect(auto_compaction).toMatchObject({ state: 'stopped', failures: 3 });
  });
});
