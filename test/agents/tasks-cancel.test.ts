import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { turns, user } from '../support/messages.js';
import { startModelStub } from '../support/model-stub.js';
import { modelAt, startService } from '../support/service.js';
import { ask, calling, eventsOf, LOOKUP, newTask, until } from './task-support.js';

const withModel = (url: string, more = {}) =>
  modelAt(url, { MAIN_MODEL: 'stub-1', MAIN_RETRIES: '0', ...more });
const FREE = { turn_owner: null, turn_expires_at: null, turn_position: null };
const turnOf = 'SELECT turn_owner, turn_expires_at, turn_position FROM sessions';

describe('cancelling', () => {
  it('a running task breaks its model call off, and its session is free at once', async () => {
    const stub = await startModelStub((prompt) =>
      prompt === 'hang' ? { hang: true } : { content: 'Hello.' },
    );
    const service = await startService(withModel(stub.url));
    await service.agent('clerk');
    const id = await newTask(service, 'clerk', { input: 'hang' });
    while (stub.prompts.length === 0) await sleep(5);
    const following = service.call('GET', `/tasks/${id}/events`);
    const cancelled = await ask(service, 'POST', `/tasks/${id}/cancel`);
    expect([cancelled.status, cancelled.body.status]).toEqual([200, 'cancelled']);
    expect(cancelled.body.finished_at).not.toBeNull();
    await stub.server.peerClosed(0);
    const { session_id: sessionId } = cancelled.body;
    expect(service.sql(turnOf)).toEqual([FREE]);
    const chat = await service.call('POST', '/agents/clerk/chat', { sessionId, message: 'Still there?' });
    expect(chat.status).toBe(200);
    expect((await service.messages(sessionId)).map(({ content }) => content)).toEqual([
      'hang',
      'Still there?',
      'Hello.',
    ]);
    expect(eventsOf((await following).text).map(({ event }) => event)).toEqual([
      'task-queued',
      'task-running',
      'task-cancelled',
    ]);
    const again = await ask(service, 'POST', `/tasks/${id}/cancel`);
    expect([again.status, again.body]).toEqual([200, cancelled.body]);
    const resumed = await ask(service, 'POST', `/tasks/${id}/resume`, { message: 'x' });
    expect([resumed.status, resumed.body.code]).toEqual([409, 'TASK_NOT_RESUMABLE']);
  });

  it('a queued, waiting, failed or interrupted task ends it, and what it held is free to be summarized', async () => {
    const stub = await startModelStub((prompt) =>
      prompt.startsWith('wait')
        ? calling('c1')
        : prompt.startsWith('fail')
          ? { status: 401, body: { error: { message: 'no' } } }
          : { content: 'SUM' },
    );
    const service = await startService(withModel(stub.url));
    await service.agent('clerk', LOOKUP);
    for (const status of ['queued', 'waiting', 'failed', 'interrupted'] as const) {
      const sessionId = await service.session(turns(4, 100));
      if (status === 'queued') {
        service.sql("UPDATE sessions SET turn_owner = 'x', turn_expires_at = 9e15 WHERE id = ?", sessionId);
      }
      const input = status === 'waiting' ? 'wait' : 'fail';
      const id = await newTask(service, 'clerk', { sessionId, input });
      await until(service, id, status === 'interrupted' ? 'failed' : status);
      if (status === 'interrupted') service.sql("UPDATE tasks SET status = 'interrupted' WHERE id = ?", id);
      if (status === 'queued') {
        service.sql('UPDATE sessions SET turn_owner = null, turn_expires_at = null WHERE id = ?', sessionId);
      }
      const cancelled = await ask(service, 'POST', `/tasks/${id}/cancel`);
      expect([status, cancelled.status, cancelled.body.status]).toEqual([status, 200, 'cancelled']);
      expect(service.sql(`${turnOf} WHERE id = ?`, sessionId)).toEqual([FREE]);
      await ask(service, 'POST', `/tasks/${id}/cancel`);
      const names = eventsOf((await service.call('GET', `/tasks/${id}/events`)).text).map(
        ({ event }) => event,
      );
      expect(names.filter((name) => name === 'task-cancelled')).toEqual(['task-cancelled']);
      // An unanswered call at the very end is pending by itself; with something after it, it is history.
      await service.call('POST', `/sessions/${sessionId}/messages`, { messages: [user(500)] });
      const count = (await service.messages(sessionId)).length;
      expect((await service.compact(sessionId, { compactCount: 99 })).body.newSize).toBe(count);
    }
  });

  it('a completed task or an unknown one is refused', async () => {
    const stub = await startModelStub(() => ({ content: 'ok' }));
    const service = await startService(withModel(stub.url));
    await service.agent('clerk');
    const id = await newTask(service, 'clerk', { input: 'x' });
    await until(service, id, 'completed');
    const finished = await ask(service, 'POST', `/tasks/${id}/cancel`);
    expect([finished.status, finished.body.code]).toEqual([409, 'TASK_FINISHED']);
    const unknown = await ask(service, 'POST', '/tasks/task_none/cancel');
    expect([unknown.status, unknown.body.code]).toEqual([404, 'TASK_NOT_FOUND']);
  });

  it('a task that another process runs stops it at its next renewal', async () => {
    const stub = await startModelStub(() => ({ hang: true }));
    const service = await startService(withModel(stub.url, { COMPACTION_LEASE_MS: '1000' }));
    const other = await startService(withModel(stub.url), service.file);
    await service.agent('clerk');
    const id = await newTask(service, 'clerk', { input: 'hang' });
    while (stub.prompts.length === 0) await sleep(5);
    expect((await ask(other, 'POST', `/tasks/${id}/cancel`)).body.status).toBe('cancelled');
    await stub.server.peerClosed(0, 2_000);
    await sleep(50);
    expect((await ask(service, 'GET', `/tasks/${id}`)).body).toMatchObject({
      status: 'cancelled',
      error: null,
    });
    expect(service.sql(turnOf)).toEqual([FREE]);
  });
});

describe('deleting the session of a task', () => {
  it('ends the task at once, and those who follow it are told', async () => {
    const stub = await startModelStub(() => ({ hang: true }));
    const service = await startService(withModel(stub.url));
    await service.agent('clerk');
    const id = await newTask(service, 'clerk', { input: 'hang' });
    while (stub.prompts.length === 0) await sleep(5);
    const following = service.call('GET', `/tasks/${id}/events`);
    await sleep(20);
    const { session_id } = (await ask(service, 'GET', `/tasks/${id}`)).body;
    expect((await service.call('DELETE', `/sessions/${session_id}`)).status).toBe(204);
    await stub.server.peerClosed(0);
    const last = eventsOf((await following).text).at(-1);
    expect([last?.event, last?.id, last?.data['code']]).toEqual(['error', null, 'TASK_NOT_FOUND']);
    expect((await service.call('GET', `/tasks/${id}`)).status).toBe(404);
    for (const table of ['tasks', 'task_events', 'messages', 'sessions'])
      expect(service.sql(`SELECT count(*) AS n FROM ${table}`)).toEqual([{ n: 0 }]);
  });
});

describe('closing the service', () => {
  it('interrupts what runs at once, and gives its leases back', async () => {
    const stub = await startModelStub((_, index) => (index === 0 ? { hang: true } : { content: 'Done.' }));
    const service = await startService(withModel(stub.url));
    await service.agent('clerk');
    const id = await newTask(service, 'clerk', { input: 'Go.' });
    while (stub.prompts.length === 0) await sleep(5);
    const following = service.call('GET', `/tasks/${id}/events`);
    await sleep(20);
    await service.close();
    expect(eventsOf((await following).text).map(({ event }) => event)).not.toContain('error');
    const again = await startService(withModel(stub.url), service.file);
    const interrupted = (await ask(again, 'GET', `/tasks/${id}`)).body;
    expect(interrupted).toMatchObject({
      status: 'interrupted',
      error: { code: 'INTERRUPTED', detail: 'The service was shut down while it ran' },
      finished_at: expect.any(String),
    });
    expect(again.sql('SELECT turn_owner, turn_expires_at, turn_position FROM sessions')).toEqual([
      { turn_owner: null, turn_expires_at: null, turn_position: 0 },
    ]);
    await ask(again, 'POST', `/tasks/${id}/resume`);
    await until(again, id, 'completed');
    expect(await again.messages(interrupted.session_id)).toEqual([
      user('Go.'),
      { role: 'assistant', content: 'Done.' },
    ]);
  });

  it('lets those go who follow a task that waits', async () => {
    const stub = await startModelStub(() => calling('c1'));
    const service = await startService(withModel(stub.url));
    await service.agent('clerk', LOOKUP);
    const id = await newTask(service, 'clerk', { input: 'Go.' });
    await until(service, id, 'waiting');
    const following = service.call('GET', `/tasks/${id}/events`);
    await sleep(50);
    await service.close();
    expect(eventsOf((await following).text).at(-1)?.event).toBe('task-waiting');
  });
});
