import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import type { ChatMessage } from '../../src/compaction/measure.js';
import { calls, result, text, turns, user } from '../support/messages.js';
import { startModelStub } from '../support/model-stub.js';
import { modelAt, startService, type TestService } from '../support/service.js';
import { strictViolation } from '../support/strict.js';
import { ask, calling, eventsOf, LOOKUP, newTask, until } from './task-support.js';

const withModel = (url: string) => modelAt(url, { MAIN_MODEL: 'stub-1', MAIN_RETRIES: '0' });
const DOWN = { status: 401, body: { error: { message: 'no such key' } } };
const toolResults = [{ toolCallId: 'c1', content: 'r1' }];
/** The messages that the endpoint received, as what they are. */
const sentIn = (messages: unknown): ChatMessage[] => JSON.parse(JSON.stringify(messages ?? []));
const eventNames = async (service: TestService, id: string) =>
  eventsOf((await service.call('GET', `/tasks/${id}/events`)).text).map(({ event }) => event);

describe('a task whose model fails', () => {
  it('fails with the error, and goes on from its stored message when it is resumed (B134)', async () => {
    const stub = await startModelStub((_, index) => (index < 2 ? DOWN : { content: 'Done.' }));
    const service = await startService(withModel(stub.url));
    await service.agent('clerk');
    const id = await newTask(service, 'clerk', { input: 'Go.' });
    const failed = await until(service, id, 'failed');
    expect(failed.error?.code).toBe('MODEL_AUTH');
    expect(failed.finished_at).not.toBeNull();
    for (const status of ['failed', 'completed']) {
      const resumed = await ask(service, 'POST', `/tasks/${id}/resume`);
      expect([resumed.status, resumed.body.status, resumed.body.error]).toEqual([202, 'queued', null]);
      await until(service, id, status);
    }
    expect(await service.messages(failed.session_id)).toEqual([
      user('Go.'),
      { role: 'assistant', content: 'Done.' },
    ]);
    expect(stub.prompts).toEqual(['Go.', 'Go.', 'Go.']);
    expect(await eventNames(service, id)).toEqual([
      'task-queued',
      'task-running',
      'task-failed',
      'task-queued',
      'task-running',
      'task-failed',
      'task-queued',
      'task-running',
      'message-completed',
      'task-completed',
    ]);
    // And its session takes other turns.
    const chat = { sessionId: failed.session_id, message: 'More?' };
    expect((await service.call('POST', '/agents/clerk/chat', chat)).status).toBe(200);
  });

  it('after results, goes on with the same resume, and stores them once', async () => {
    const replies = [calling('c1'), DOWN, { content: 'Done.' }];
    const stub = await startModelStub((_, index) => replies[index] ?? {});
    const service = await startService(withModel(stub.url));
    await service.agent('clerk', LOOKUP);
    const id = await newTask(service, 'clerk', { input: 'Go.' });
    await until(service, id, 'waiting');
    await ask(service, 'POST', `/tasks/${id}/resume`, { toolResults });
    await until(service, id, 'failed');
    const other = await ask(service, 'POST', `/tasks/${id}/resume`, {
      toolResults: [{ toolCallId: 'c1', content: 'another' }],
    });
    expect([other.status, other.body.code]).toEqual([409, 'TOOL_CALL_CLOSED']);
    await ask(service, 'POST', `/tasks/${id}/resume`, { toolResults });
    const { session_id } = await until(service, id, 'completed');
    expect(await service.messages(session_id)).toEqual([
      user('Go.'),
      calls(['c1']),
      result('c1', 'r1'),
      { role: 'assistant', content: 'Done.' },
    ]);
  });

  it('does not answer what came after it: it wants a message then', async () => {
    const stub = await startModelStub((_, index) => (index === 0 ? DOWN : { content: `A${index}` }));
    const service = await startService(withModel(stub.url));
    await service.agent('clerk');
    const id = await newTask(service, 'clerk', { input: 'Go.' });
    const { session_id: sessionId } = await until(service, id, 'failed');
    await service.call('POST', '/agents/clerk/chat', { sessionId, message: 'Hello?' });
    const refused = await ask(service, 'POST', `/tasks/${id}/resume`);
    expect([refused.status, refused.body]).toMatchObject([
      409,
      { code: 'SESSION_CHANGED', retryable: false },
    ]);
    expect((await ask(service, 'GET', `/tasks/${id}`)).body.status).toBe('failed');
    await ask(service, 'POST', `/tasks/${id}/resume`, { message: 'Now.' });
    await until(service, id, 'completed');
    expect((await service.messages(sessionId)).map(({ content }) => content)).toEqual([
      'Go.',
      'Hello?',
      'A1',
      'Now.',
      'A2',
    ]);
  });

  it('that cannot begin fails, and begins when what was missing is there', async () => {
    const stub = await startModelStub(() => ({ content: 'Done.', delayMs: 150 }));
    const service = await startService(withModel(stub.url));
    service.app.services.tasks.start();
    await service.agent('clerk');
    const sessionId = await service.session([user('q')]);
    const first = await newTask(service, 'clerk', { sessionId, input: 'first' });
    await until(service, first, 'running');
    const id = await newTask(service, 'clerk', { sessionId, input: 'second' });
    service.sql("UPDATE sessions SET status = 'closed'");
    const failed = await until(service, id, 'failed');
    expect(failed.error?.code).toBe('SESSION_CLOSED');
    const refused = await ask(service, 'POST', `/tasks/${id}/resume`);
    expect([refused.status, refused.body.code]).toEqual([400, 'SESSION_CLOSED']);
    await service.call('POST', `/sessions/${sessionId}/reopen`);
    await ask(service, 'POST', `/tasks/${id}/resume`);
    await until(service, id, 'completed');
    expect((await service.messages(sessionId)).map(({ content }) => content)).toEqual([
      'q',
      'first',
      'Done.',
      'second',
      'Done.',
    ]);
  });
});

describe('resuming', () => {
  it('what is unknown, finished, never waited or incomplete changes nothing (B137)', async () => {
    const stub = await startModelStub((prompt) =>
      prompt === 'hang' ? { hang: true } : prompt === 'wait' ? calling('c1') : { content: 'ok' },
    );
    const service = await startService(withModel(stub.url));
    await service.agent('clerk', { ...LOOKUP, daemon: { prompt: 'tick' } });
    const finished = await newTask(service, 'clerk', { input: 'x' });
    const waiting = await newTask(service, 'clerk', { input: 'wait' });
    const running = await newTask(service, 'clerk', { input: 'hang' });
    const tick = (await ask(service, 'POST', '/agents/clerk/ticks')).body.id;
    await until(service, finished, 'completed');
    await until(service, waiting, 'waiting');
    await until(service, tick, 'completed');
    while (stub.prompts.length < 4) await sleep(5);
    const before = service.sql('SELECT * FROM task_events ORDER BY pk');
    const rows = service.sql('SELECT pk, status, resume_hash, event_count, updated_at FROM tasks');
    for (const [id, body, status, code] of [
      ['task_none', { toolResults }, 404, 'TASK_NOT_FOUND'],
      [finished, { toolResults }, 409, 'TASK_NOT_RESUMABLE'],
      [finished, undefined, 409, 'TASK_NOT_RESUMABLE'],
      [running, { toolResults }, 409, 'TASK_NOT_RESUMABLE'],
      [running, { message: 'x' }, 409, 'TASK_NOT_RESUMABLE'],
      [tick, { message: 'x' }, 409, 'TASK_NOT_RESUMABLE'],
      [waiting, { toolResults: [{ toolCallId: 'c1' }] }, 400, 'VALIDATION_FAILED'],
      [waiting, { toolResults: [{ content: 'r' }] }, 400, 'VALIDATION_FAILED'],
      [waiting, { toolResults: [] }, 400, 'VALIDATION_FAILED'],
      [waiting, { toolResults: [{ toolCallId: 'c2', content: 'r' }] }, 409, 'TOOL_CALL_CLOSED'],
    ] as const) {
      const refused = await ask(service, 'POST', `/tasks/${id}/resume`, body);
      expect([id, refused.status, refused.body.code]).toEqual([id, status, code]);
    }
    await sleep(50);
    expect(service.sql('SELECT * FROM task_events ORDER BY pk')).toEqual(before);
    expect(service.sql('SELECT pk, status, resume_hash, event_count, updated_at FROM tasks')).toEqual(rows);
    expect(stub.prompts.length).toBe(4);
  });

  it('twice at once runs once', async () => {
    const replies = [calling('c1'), { content: 'Done.', delayMs: 50 }];
    const stub = await startModelStub((_, index) => replies[index] ?? {});
    const service = await startService(withModel(stub.url));
    await service.agent('clerk', LOOKUP);
    const id = await newTask(service, 'clerk', { input: 'Go.' });
    await until(service, id, 'waiting');
    const answers = await Promise.all(
      Array.from({ length: 5 }, () => ask(service, 'POST', `/tasks/${id}/resume`, { toolResults })),
    );
    expect(answers.map(({ status }) => status)).toEqual([202, 202, 202, 202, 202]);
    const { session_id } = await until(service, id, 'completed');
    expect(stub.prompts.length).toBe(2);
    expect((await service.messages(session_id)).length).toBe(4);
  });

  it('answers a later call that has the id of an earlier one', async () => {
    const replies = [calling('c1'), calling('c1'), { content: 'Done.' }];
    const stub = await startModelStub((_, index) => replies[index] ?? {});
    const service = await startService(withModel(stub.url));
    await service.agent('clerk', LOOKUP);
    const id = await newTask(service, 'clerk', { input: 'Go.' });
    await until(service, id, 'waiting');
    await ask(service, 'POST', `/tasks/${id}/resume`, { toolResults });
    while (stub.prompts.length < 2) await sleep(5);
    await until(service, id, 'waiting');
    await ask(service, 'POST', `/tasks/${id}/resume`, { toolResults });
    const { session_id } = await until(service, id, 'completed');
    expect((await service.messages(session_id)).length).toBe(6);
  });

  it('waits for its place while the session ends with calls of another task', async () => {
    const replies = [calling('c1'), calling('d1'), { content: 'Second done.' }, { content: 'First done.' }];
    const stub = await startModelStub((_, index) => replies[index] ?? {});
    const service = await startService(withModel(stub.url));
    await service.agent('clerk', LOOKUP);
    const sessionId = await service.session([]);
    const first = await newTask(service, 'clerk', { sessionId, input: 'first' });
    await until(service, first, 'waiting');
    const second = await newTask(service, 'clerk', { sessionId, input: 'second' });
    await until(service, second, 'waiting');
    await ask(service, 'POST', `/tasks/${first}/resume`, { toolResults });
    await sleep(100);
    expect((await ask(service, 'GET', `/tasks/${first}`)).body.status).toBe('queued');
    // Its calls stay as they are until the results are stored, queued as it is.
    const preview = await service.compact(sessionId, { compactCount: 99, dryRun: true });
    expect(preview.body.newSize).toBe(1);
    const early = await service.call('POST', '/agents/clerk/chat', { sessionId, toolResults });
    expect([early.status, early.body.code]).toEqual([409, 'TOOL_CALL_CLOSED']);
    await ask(service, 'POST', `/tasks/${second}/resume`, {
      toolResults: [{ toolCallId: 'd1', content: 'r2' }],
    });
    expect((await until(service, second, 'completed')).result?.content).toBe('Second done.');
    expect((await until(service, first, 'completed')).result?.content).toBe('First done.');
    expect(await service.messages(sessionId)).toEqual([
      user('first'),
      calls(['c1']),
      user('second'),
      calls(['d1']),
      result('d1', 'r2'),
      { role: 'assistant', content: 'Second done.' },
      result('c1', 'r1'),
      { role: 'assistant', content: 'First done.' },
    ]);
    expect(sentIn(stub.bodies[3]?.messages).slice(0, 6)).toEqual([
      user('first'),
      calls(['c1']),
      result('c1', 'r1'),
      user('second'),
      calls(['d1']),
      result('d1', 'r2'),
    ]);
  });

  it('keeps its question and its calls out of summaries while it runs with results that came late', async () => {
    const replies = [calling('c1'), { content: 'Chatting.' }, { hang: true }];
    const stub = await startModelStub((_, index) => replies[index] ?? {});
    const service = await startService(withModel(stub.url));
    await service.agent('clerk', LOOKUP);
    const sessionId = await service.session(turns(2, 100));
    const id = await newTask(service, 'clerk', { sessionId, input: 'Look.' });
    await until(service, id, 'waiting');
    await service.call('POST', '/agents/clerk/chat', { sessionId, message: text(500) });
    await ask(service, 'POST', `/tasks/${id}/resume`, { toolResults });
    while (stub.prompts.length < 3) await sleep(5);
    const preview = await service.compact(sessionId, { compactCount: 99, dryRun: true });
    expect(preview.body.newSize).toBe(2);
    await ask(service, 'POST', `/tasks/${id}/cancel`);
    const free = await service.compact(sessionId, { compactCount: 99, dryRun: true });
    expect(free.body.newSize).toBe(6);
  });

  it('uses a summary that was made while it waited: system messages, the pair once, tail, results', async () => {
    const replies = [calling('c9'), { content: 'SUM' }, { content: 'Done.' }];
    const stub = await startModelStub((_, index) => replies[index] ?? {});
    const service = await startService(withModel(stub.url));
    await service.agent('clerk', { ...LOOKUP, systemPrompt: 'You sell.' });
    const history = turns(20, 100);
    const sessionId = await service.session(history);
    const id = await newTask(service, 'clerk', { sessionId, input: text(300) });
    await until(service, id, 'waiting');
    const compacted = await service.compact(sessionId, { compactCount: 99 });
    expect(compacted.body.newSize).toBe(21);
    const again = await service.compact(sessionId, { compactCount: 99 });
    expect([again.body.alreadyUpToDate, again.body.reason]).toEqual([true, 'pending_tool_calls']);
    const pair = (await service.view(sessionId)).slice(0, -1);
    await ask(service, 'POST', `/tasks/${id}/resume`, {
      toolResults: [{ toolCallId: 'c9', content: 'nine' }],
    });
    await until(service, id, 'completed');
    const sent = sentIn(stub.bodies[2]?.messages);
    expect(sent).toEqual([
      { role: 'system', content: 'You sell.' },
      ...pair,
      calls(['c9']),
      result('c9', 'nine'),
    ]);
    expect(strictViolation(sent)).toBeNull();
    expect(JSON.stringify(sent).split('SUM').length - 1).toBe(1);
    expect(await service.messages(sessionId)).toEqual([
      ...history,
      user(300),
      calls(['c9']),
      result('c9', 'nine'),
      { role: 'assistant', content: 'Done.' },
    ]);
    expect(service.sql('SELECT count(*) AS n FROM messages')).toEqual([{ n: 24 }]);
  });
});
