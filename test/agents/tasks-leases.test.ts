import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { TRANSITIONS } from '../../src/agents/tasks/states.js';
import { calls, user } from '../support/messages.js';
import { startModelStub } from '../support/model-stub.js';
import { modelAt, startService } from '../support/service.js';
import { itOnSqlite } from '../support/tested-store.js';
import { ask, calling, eventsOf, LOOKUP, newTask, until } from './task-support.js';

const withModel = (url: string) => modelAt(url, { MAIN_MODEL: 'stub-1', MAIN_RETRIES: '0' });

describe('a task whose lease ran out while its process was paused', () => {
  it('is interrupted by another process, once, and what the first one brings late is not stored', async () => {
    let release = () => {};
    const held = new Promise<void>((resolve) => {
      release = resolve;
    });
    const stub = await startModelStub(async (_, index) => {
      if (index === 0) await held;
      return { content: index === 0 ? 'Late.' : 'Done.' };
    });
    const paused = await startService(withModel(stub.url));
    await paused.agent('clerk');
    const id = await newTask(paused, 'clerk', { input: 'Go.' });
    while (stub.prompts.length === 0) await sleep(5);
    paused.sql('UPDATE tasks SET lease_expires_at = 1');
    paused.sql('UPDATE sessions SET turn_expires_at = 1');
    const others = await Promise.all([1, 2].map(() => startService(withModel(stub.url), paused.file)));
    for (const other of others) other.app.services.tasks.start();
    const interrupted = await until(paused, id, 'interrupted');
    expect(interrupted.error?.code).toBe('INTERRUPTED');
    release();
    await sleep(100);
    expect((await ask(paused, 'GET', `/tasks/${id}`)).body).toEqual(interrupted);
    expect(await paused.messages(interrupted.session_id)).toEqual([user('Go.')]);
    await ask(paused, 'POST', `/tasks/${id}/resume`);
    await until(paused, id, 'completed');
    expect(await paused.messages(interrupted.session_id)).toEqual([
      user('Go.'),
      { role: 'assistant', content: 'Done.' },
    ]);
    expect(stub.prompts.length).toBe(2);
    const names = eventsOf((await paused.call('GET', `/tasks/${id}/events`)).text).map(({ event }) => event);
    expect(names.filter((name) => name === 'task-interrupted')).toEqual(['task-interrupted']);
  });
});

describe('many tasks in two processes on one database', () => {
  it('run once each, at most eight at once in a process', async () => {
    let atWork = 0;
    let most = 0;
    const stub = await startModelStub(async (prompt) => {
      atWork += 1;
      most = Math.max(most, atWork);
      await sleep(300);
      atWork -= 1;
      return { content: `Re: ${prompt}` };
    });
    const one = await startService(withModel(stub.url));
    const two = await startService(withModel(stub.url), one.file);
    one.app.services.tasks.start();
    two.app.services.tasks.start();
    await one.agent('clerk');
    const inputs = Array.from({ length: 40 }, (_, index) => `input ${index}`);
    const ids = await Promise.all(
      inputs.map((input, index) => newTask(index % 2 === 0 ? one : two, 'clerk', { input })),
    );
    for (const id of ids) await until(one, id, 'completed', 20_000);
    expect([...stub.prompts].sort()).toEqual([...inputs].sort());
    expect(most).toBeGreaterThan(1);
    expect(most).toBeLessThanOrEqual(16);
    expect(one.sql('SELECT count(*) AS n FROM messages')).toEqual([{ n: 80 }]);
  });
});

describe('resetting the session of a task', () => {
  it('ends what waits or could go on, and leaves what has not begun', async () => {
    const stub = await startModelStub((prompt) =>
      prompt === 'wait' ? calling('c1') : prompt === 'fail' ? { status: 401, body: {} } : { content: 'ok' },
    );
    const service = await startService(withModel(stub.url));
    await service.agent('clerk', LOOKUP);
    const sessionId = await service.session([]);
    const waiting = await newTask(service, 'clerk', { sessionId, input: 'wait' });
    await until(service, waiting, 'waiting');
    const failed = await newTask(service, 'clerk', { sessionId, input: 'fail' });
    await until(service, failed, 'failed');
    service.sql("UPDATE sessions SET turn_owner = 'x', turn_expires_at = 9e15");
    const queued = await newTask(service, 'clerk', { sessionId, input: 'go' });
    service.sql('UPDATE sessions SET turn_owner = null, turn_expires_at = null');
    expect((await service.call('POST', `/sessions/${sessionId}/reset`)).status).toBe(200);
    for (const id of [waiting, failed]) {
      const { body } = await ask(service, 'GET', `/tasks/${id}`);
      expect([body.status, body.error?.detail, body.tool_calls]).toEqual([
        'cancelled',
        'Its session was reset',
        null,
      ]);
    }
    service.app.services.tasks.start();
    await until(service, queued, 'completed');
    expect((await service.messages(sessionId)).map(({ content }) => content)).toEqual(['go', 'ok']);
  });
});

describe('the states of tasks', () => {
  it('are the ones in the documentation', () => {
    const docs = readFileSync(new URL('../../docs/agents.md', import.meta.url), 'utf8');
    const words = (text = '') => [...text.matchAll(/`(\w+)`/g)].map(([, word]) => word ?? '');
    const table = docs
      .slice(docs.indexOf('| state | may become |'), docs.indexOf('`GET /tasks/{id}` reads'))
      .split('\n')
      .map((line) => line.split('|'))
      .filter(([, state = '']) => state.startsWith(' `'))
      .map(([, state, next]) => [words(state)[0], words(next)]);
    expect(Object.fromEntries(table)).toEqual(TRANSITIONS);
  });

  itOnSqlite(
    'are looked at by an index, however many tasks are over',
    'a query plan of it; test/db has those of both',
    async () => {
      const service = await startService();
      const [plan] = service.sql(
        "EXPLAIN QUERY PLAN SELECT * FROM tasks INNER JOIN sessions ON sessions.pk = tasks.session_pk WHERE tasks.status IN ('queued', 'running') AND tasks.status = 'running' AND tasks.lease_expires_at <= 5 ORDER BY tasks.pk",
      );
      expect(JSON.stringify(plan)).toContain('tasks_active');
    },
  );
});

describe('a tick', () => {
  it('is offered no tools of the caller, and is told so when its model calls one', async () => {
    const replies = [calling('c1'), { content: 'Then not.' }];
    const stub = await startModelStub((_, index) => replies[index] ?? {});
    const service = await startService(withModel(stub.url));
    await service.agent('guard', { ...LOOKUP, daemon: { prompt: 'Look around.' } });
    const { id } = (await ask(service, 'POST', '/agents/guard/ticks')).body;
    const done = await until(service, id, 'completed');
    expect([done.kind, done.input, done.result?.content]).toEqual(['tick', 'Look around.', 'Then not.']);
    expect(stub.bodies[0]?.['tools']).toBeUndefined();
    expect(await service.messages(done.session_id)).toEqual([
      user('Look around.'),
      calls(['c1']),
      {
        role: 'tool',
        tool_call_id: 'c1',
        content: '{"error":"There is nobody to run the tool lookup here"}',
      },
      { role: 'assistant', content: 'Then not.' },
    ]);
    const session = (await service.call('GET', `/sessions/${done.session_id}`)).body;
    expect(session).toMatchObject({ kind: 'daemon', status: 'closed', compact_count: 50 });
  });

  it('whose session is closed ends cancelled too, and lets another begin', async () => {
    const stub = await startModelStub((_, index) => (index === 0 ? { hang: true } : { content: 'ok' }));
    const service = await startService(withModel(stub.url));
    await service.agent('guard', { daemon: { prompt: 'Look.' } });
    const { id, session_id } = (await ask(service, 'POST', '/agents/guard/ticks')).body;
    while (stub.prompts.length === 0) await sleep(5);
    const second = await ask(service, 'POST', '/agents/guard/ticks');
    expect([second.status, second.body.code]).toEqual([409, 'TICK_IN_PROGRESS']);
    await ask(service, 'POST', `/tasks/${id}/cancel`);
    expect((await service.call('GET', `/sessions/${session_id}`)).body.status).toBe('closed');
    const third = await ask(service, 'POST', '/agents/guard/ticks');
    expect(third.status).toBe(202);
    await until(service, third.body.id, 'completed');
    const over = await ask(service, 'POST', `/tasks/${third.body.id}/cancel`);
    expect([over.status, over.body.code]).toEqual([409, 'TASK_FINISHED']);
  });
});
