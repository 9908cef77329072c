import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import type { ChatMessage } from '../../src/compaction/measure.js';
import {
  ask,
  type Callable,
  calling,
  eventsOf,
  LOOKUP,
  newTask,
  overHttp,
  until,
} from '../agents/task-support.js';
import { calls, result, turns, user } from '../support/messages.js';
import { type ModelStub, type StubReply, startModelStub } from '../support/model-stub.js';
import { startProcess } from '../support/process.js';
import { temporaryFolder } from '../support/service.js';
import { strictViolation } from '../support/strict.js';

const LEASE_MS = 2_000;
/** Longer than a process takes to start. */
const LONG_LEASE_MS = 6_000;

function variablesFor(stub: ModelStub, more: Record<string, string> = {}): Record<string, string> {
  return {
    DATABASE_URL: `file:${join(temporaryFolder(), 'compactd.db')}`,
    OPENAI_BASE_URL: stub.url,
    MAIN_MODEL: 'stub-1',
    MAIN_RETRIES: '0',
    WINDOW_DISCOVERY: 'off',
    COMPACTION_LEASE_MS: String(LEASE_MS),
    ...more,
  };
}

const events = async (url: string, id: string) =>
  eventsOf(await (await fetch(`${url}/tasks/${id}/events`)).text());

const messagesOf = async (service: Callable, id: string): Promise<ChatMessage[]> => {
  const { body } = await service.call('GET', `/sessions/${id}/messages?limit=200`);
  const page: { data: { message: ChatMessage }[] } = JSON.parse(JSON.stringify(body));
  return page.data.map(({ message }) => message);
};

describe('tasks of a process that is killed', { timeout: 60_000 }, () => {
  it('end in their states, once, however often it is started again (B135)', async () => {
    const asked: string[] = [];
    const stub = await startModelStub((prompt): StubReply => {
      asked.push(prompt);
      if (prompt === 'run') return { hang: true };
      return prompt === 'wait' ? calling('c1') : { content: `Re: ${prompt}` };
    });
    const variables = variablesFor(stub, { COMPACTION_LEASE_MS: String(LONG_LEASE_MS) });
    const first = await startProcess(variables);
    const before = overHttp(first);
    await ask(before, 'PUT', '/agents/clerk', LOOKUP);
    const running = await newTask(before, 'clerk', { input: 'run' });
    const waiting = await newTask(before, 'clerk', { input: 'wait' });
    const waited = await until(before, waiting, 'waiting');
    while (!asked.includes('run')) await sleep(5);
    const { session_id: busy } = await until(before, running, 'running');
    const queued = await newTask(before, 'clerk', { input: 'queue', sessionId: busy });
    await first.end('SIGKILL');

    // The lease of the dead one still lasts: nothing may be taken over yet.
    const second = await startProcess(variables);
    expect((await ask(overHttp(second), 'GET', `/tasks/${running}`)).body.status).toBe('running');
    await second.end('SIGKILL');

    const third = await startProcess(variables);
    const after = overHttp(third);
    const interrupted = await until(after, running, 'interrupted', LONG_LEASE_MS + 3_000);
    expect(interrupted.error).toEqual({
      code: 'INTERRUPTED',
      detail: 'The process that ran it stopped, or was paused for longer than its lease',
    });
    expect(Date.parse(interrupted.finished_at ?? '')).toBeGreaterThan(
      Date.parse(interrupted.started_at ?? ''),
    );
    const ran = await until(after, queued, 'completed');
    expect(await messagesOf(after, busy)).toEqual([
      user('run'),
      user('queue'),
      { role: 'assistant', content: 'Re: queue' },
    ]);
    await third.end('SIGKILL');

    const fourth = await startProcess(variables);
    const last = overHttp(fourth);
    await sleep(1_500);
    expect((await ask(last, 'GET', `/tasks/${running}`)).body).toEqual(interrupted);
    expect((await ask(last, 'GET', `/tasks/${waiting}`)).body).toEqual(waited);
    expect((await ask(last, 'GET', `/tasks/${queued}`)).body).toEqual(ran);
    expect((await events(fourth.url, running)).map(({ event }) => event)).toEqual([
      'task-queued',
      'task-running',
      'task-interrupted',
    ]);
    await ask(last, 'POST', `/tasks/${waiting}/resume`, {
      toolResults: [{ toolCallId: 'c1', content: 'one' }],
    });
    await until(last, waiting, 'completed');
    for (const sessionId of [busy, waited.session_id]) {
      const chat = await ask(last, 'POST', '/agents/clerk/chat', { sessionId, message: 'And?' });
      expect([chat.status, chat.body.status]).toEqual([200, 'completed']);
    }
    await ask(last, 'POST', `/tasks/${running}/resume`, { message: 'Again.' });
    await until(last, running, 'completed');
    // Nothing ran twice.
    expect([...asked].sort()).toEqual(['Again.', 'And?', 'And?', 'one', 'queue', 'run', 'wait']);
  });

  it('go on from the message that was stored when they are resumed', async () => {
    const stub = await startModelStub(
      (_, index): StubReply => (index === 0 ? { hang: true } : { content: 'Ok.' }),
    );
    const variables = variablesFor(stub);
    const first = await startProcess(variables);
    await ask(overHttp(first), 'PUT', '/agents/clerk', {});
    const id = await newTask(overHttp(first), 'clerk', { input: 'Go.' });
    while (stub.prompts.length === 0) await sleep(5);
    await first.end('SIGKILL');
    const again = await startProcess(variables);
    const service = overHttp(again);
    // Who follows it in another process sees it end.
    const followed = (await events(again.url, id)).map(({ event }) => event);
    expect(followed).toEqual(['task-queued', 'task-running', 'task-interrupted']);
    await ask(service, 'POST', `/tasks/${id}/resume`);
    const { session_id } = await until(service, id, 'completed');
    expect(await messagesOf(service, session_id)).toEqual([
      user('Go.'),
      { role: 'assistant', content: 'Ok.' },
    ]);
    expect(stub.prompts).toEqual(['Go.', 'Go.']);
  });
});

describe('tasks of a process that is asked to stop', { timeout: 60_000 }, () => {
  it('are interrupted at once, hold nothing, and those who follow are let go', async () => {
    const stub = await startModelStub(
      (_, index): StubReply => (index === 0 ? { hang: true } : { content: 'Ok.' }),
    );
    const variables = variablesFor(stub, { COMPACTION_LEASE_MS: '60000' });
    const first = await startProcess(variables);
    await ask(overHttp(first), 'PUT', '/agents/clerk', {});
    const id = await newTask(overHttp(first), 'clerk', { input: 'Go.' });
    while (stub.prompts.length === 0) await sleep(5);
    const followed = events(first.url, id);
    await sleep(100);
    const started = performance.now();
    expect(await first.end('SIGTERM')).toEqual({ code: 0, signal: null });
    expect(performance.now() - started).toBeLessThan(3_000);
    expect((await followed).slice(0, 2).map(({ event }) => event)).toEqual(['task-queued', 'task-running']);
    const service = overHttp(await startProcess(variables));
    const { body } = await ask(service, 'GET', `/tasks/${id}`);
    expect([body.status, body.error?.code]).toEqual(['interrupted', 'INTERRUPTED']);
    const chat = { sessionId: body.session_id, message: 'Hello?' };
    expect((await ask(service, 'POST', '/agents/clerk/chat', chat)).status).toBe(200);
  });
});

describe('a task that waits while its session is compacted', { timeout: 60_000 }, () => {
  it('keeps its call as it was, and takes the result next to it (B136)', async () => {
    const stub = await startModelStub((prompt, index): StubReply => {
      if (index === 0) return calling('c9');
      return { content: prompt.includes('<') ? 'SUM' : 'Done.' };
    });
    const variables = variablesFor(stub, { MAIN_WIRE: 'strict' });
    const first = await startProcess(variables);
    const before = overHttp(first);
    await ask(before, 'PUT', '/agents/clerk', LOOKUP);
    const history = turns(40, 120);
    await before.call('POST', '/sessions', { id: 's', messages: history });
    const id = await newTask(before, 'clerk', { input: `Look it up. ${'x'.repeat(400)}`, sessionId: 's' });
    await until(before, id, 'waiting');
    for (const expected of [{ newSize: 41 }, { alreadyUpToDate: true, reason: 'pending_tool_calls' }]) {
      const { body } = await before.call('POST', '/sessions/s/compact', { compactCount: 99 });
      expect(body).toMatchObject(expected);
    }
    const chat = await ask(before, 'POST', '/agents/clerk/chat', { sessionId: 's', message: 'Meanwhile?' });
    expect(chat.status).toBe(200);
    await before.call('POST', '/sessions/s/compact', { compactCount: 99 });
    await first.end('SIGTERM');

    const second = await startProcess(variables);
    const after = overHttp(second);
    expect((await ask(after, 'GET', `/tasks/${id}`)).body.tool_calls?.map(({ id: call }) => call)).toEqual([
      'c9',
    ]);
    await ask(after, 'POST', `/tasks/${id}/resume`, { toolResults: [{ toolCallId: 'c9', content: 'nine' }] });
    await until(after, id, 'completed');
    const sent: ChatMessage[] = JSON.parse(JSON.stringify(stub.bodies.at(-1)?.messages));
    expect(strictViolation(sent)).toBeNull();
    const at = sent.findIndex(({ tool_calls }) => tool_calls != null);
    // In the strictest form ids are shortened; the call is as it was, and its result is directly behind it.
    const [call] = sent[at]?.tool_calls ?? [];
    expect(call?.function).toEqual({ name: 'lookup', arguments: '{}' });
    expect(sent[at + 1]).toEqual(result(call?.id ?? '', 'nine'));
    expect(JSON.stringify(sent).split('nine').length - 1).toBe(1);
    expect((await messagesOf(after, 's')).slice(41)).toEqual([
      calls(['c9']),
      user('Meanwhile?'),
      { role: 'assistant', content: 'Done.' },
      result('c9', 'nine'),
      { role: 'assistant', content: 'Done.' },
    ]);
  });
});

describe('a daemon in two processes on one database', { timeout: 60_000 }, () => {
  it('ticks once each time, after a failed tick as well, on sessions that are closed', async () => {
    let atWork = 0;
    let mostAtWork = 0;
    const stub = await startModelStub(async (_, index): Promise<StubReply> => {
      atWork += 1;
      mostAtWork = Math.max(mostAtWork, atWork);
      await sleep(100);
      atWork -= 1;
      return index === 0
        ? { status: 401, body: { error: { message: 'no such key' } } }
        : { content: 'All quiet.' };
    });
    const variables = variablesFor(stub);
    const processes = [await startProcess(variables), await startProcess(variables)];
    const [one, two] = processes.map(overHttp);
    if (one === undefined || two === undefined) throw new Error('no processes');
    await ask(one, 'PUT', '/agents/guard', { daemon: { prompt: 'Look around.', everySeconds: 1 } });
    while (stub.prompts.length < 4) await sleep(20);
    await ask(one, 'PUT', '/agents/guard', { daemon: { prompt: 'Look around.' } });
    await sleep(1_500);
    const ticks = (await ask(two, 'GET', '/tasks?kind=tick')).body.data.reverse();
    expect(ticks.map(({ status }) => status)).toEqual([
      'failed',
      ...Array(stub.prompts.length - 1).fill('completed'),
    ]);
    expect(ticks.length).toBe(stub.prompts.length);
    expect(mostAtWork).toBe(1);
    expect(ticks[0]?.error?.code).toBe('MODEL_AUTH');
    const times = ticks.map(({ created_at }) => Date.parse(created_at));
    for (const [index, time] of times.entries())
      if (index > 0) expect(time - (times[index - 1] ?? 0)).toBeGreaterThan(900);
    expect(new Set(ticks.map(({ session_id }) => session_id)).size).toBe(ticks.length);
    for (const { session_id } of ticks) {
      const { body } = await one.call('GET', `/sessions/${session_id}`);
      expect(body).toMatchObject({ kind: 'daemon', status: 'closed', agent: 'guard' });
    }
    // By hand, too, in both at once.
    const both = await Promise.all([one, two].map((each) => ask(each, 'POST', '/agents/guard/ticks')));
    expect(both.map(({ status, body }) => [status, body.code]).sort()).toEqual([
      [202, undefined],
      [409, 'TICK_IN_PROGRESS'],
    ]);
  });

  it('ticks again after its process was killed in the middle of one', async () => {
    const stub = await startModelStub(
      (_, index): StubReply => (index === 0 ? { hang: true } : { content: 'Ok.' }),
    );
    const variables = variablesFor(stub);
    const first = await startProcess(variables);
    await ask(overHttp(first), 'PUT', '/agents/guard', { daemon: { prompt: 'Look.', everySeconds: 1 } });
    while (stub.prompts.length === 0) await sleep(5);
    await first.end('SIGKILL');
    const again = overHttp(await startProcess(variables));
    while (stub.prompts.length < 2) await sleep(20);
    const [tick] = (await ask(again, 'GET', '/tasks?kind=tick&status=interrupted')).body.data;
    expect(tick?.error?.code).toBe('INTERRUPTED');
    const { body } = await again.call('GET', `/sessions/${tick?.session_id}`);
    expect(body).toMatchObject({ status: 'closed' });
    const resumed = await ask(again, 'POST', `/tasks/${tick?.id}/resume`);
    expect([resumed.status, resumed.body.code]).toEqual([409, 'TASK_NOT_RESUMABLE']);
  });
});
