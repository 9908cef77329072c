import { readFileSync } from 'node:fs';
import { Validator } from '@seriousme/openapi-schema-validator';
import { Ajv2020 } from 'ajv/dist/2020.js';
import formats from 'ajv-formats';
import { beforeAll, describe, expect, it } from 'vitest';
import { ERROR_CATALOGUE } from '../../src/errors.js';
import { eventsOf, newTask, until } from '../agents/task-support.js';
import { calls, result, system, turns, user } from '../support/messages.js';
import { startModelStub } from '../support/model-stub.js';
import { modelAt, sharedService, startService } from '../support/service.js';

interface Operation {
  readonly operationId: string;
  readonly tags: readonly string[];
  readonly summary: string;
  readonly requestBody?: {
    readonly required?: boolean;
    readonly content: Record<string, { schema: { $ref: string } }>;
  };
  readonly responses: Record<
    string,
    { readonly description: string; readonly content?: Record<string, { schema: { $ref: string } }> }
  >;
}

interface Document {
  readonly openapi: string;
  readonly tags: readonly { name: string; description: string }[];
  readonly paths: Record<string, Record<string, Operation>>;
  readonly components: { readonly schemas: Record<string, { examples?: unknown[]; properties?: object }> };
}

const METHODS: Readonly<Record<string, 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'>> = {
  get: 'GET',
  post: 'POST',
  put: 'PUT',
  patch: 'PATCH',
  delete: 'DELETE',
};

const file = new URL('../../openapi/openapi.json', import.meta.url);
const document: Document = JSON.parse(readFileSync(file, 'utf8'));
const operations = Object.entries(document.paths).flatMap(([path, item]) =>
  Object.entries(item).map(([method, operation]) => ({ path, method, operation })),
);

describe('the OpenAPI document', () => {
  const shared = sharedService();

  it('is the one in the repository', async () => {
    const served = await (await shared()).call('GET', '/openapi.json');
    expect(served.body).toEqual(document);
  });

  it('is valid OpenAPI 3.1', async () => {
    const outcome = await new Validator().validate(
      structuredClone(document) as unknown as Record<string, unknown>,
    );
    expect({ valid: outcome.valid, errors: outcome.valid ? [] : outcome.errors }).toEqual({
      valid: true,
      errors: [],
    });
    expect(document.openapi).toBe('3.1.0');
  });

  it('names its operations once and for all', () => {
    expect(
      operations.map(({ method, path, operation }) => `${operation.operationId}: ${method} ${path}`).sort(),
    ).toEqual([
      'appendMessages: post /sessions/{id}/messages',
      'cancelTask: post /tasks/{id}/cancel',
      'chat: post /agents/{name}/chat',
      'closeSession: post /sessions/{id}/close',
      'compactSession: post /sessions/{id}/compact',
      'createSession: post /sessions',
      'createTask: post /agents/{name}/tasks',
      'createTick: post /agents/{name}/ticks',
      'deleteAgent: delete /agents/{name}',
      'deleteSession: delete /sessions/{id}',
      'followTask: get /tasks/{id}/events',
      'getAgent: get /agents/{name}',
      'getContext: get /sessions/{id}/context',
      'getLiveness: get /livez',
      'getReadiness: get /readyz',
      'getSession: get /sessions/{id}',
      'getTask: get /tasks/{id}',
      'listAgents: get /agents',
      'listCompactions: get /sessions/{id}/compactions',
      'listMessages: get /sessions/{id}/messages',
      'listSessions: get /sessions',
      'listTasks: get /tasks',
      'putAgent: put /agents/{name}',
      'reopenSession: post /sessions/{id}/reopen',
      'resetSession: post /sessions/{id}/reset',
      'resumeTask: post /tasks/{id}/resume',
      'updateSession: patch /sessions/{id}',
    ]);
  });

  it('gives each operation one known tag, a summary, and the statuses it can answer', () => {
    const known = document.tags.map(({ name }) => name);
    for (const { operation } of operations) {
      expect(operation.tags.length).toBe(1);
      expect(known).toContain(operation.tags[0]);
      expect(operation.summary).not.toBe('');
      const statuses = Object.keys(operation.responses);
      expect(statuses).toEqual(expect.arrayContaining(['400', '403', '500', '503']));
      if (operation.requestBody !== undefined)
        expect(statuses).toEqual(expect.arrayContaining(['413', '415']));
      for (const [status, { description, content }] of Object.entries(operation.responses)) {
        if (Number(status) < 400) continue;
        expect(Object.keys(content ?? {})).toEqual(['application/problem+json']);
        for (const code of description.split(', ')) {
          expect(ERROR_CATALOGUE).toHaveProperty([code, 'status'], Number(status));
        }
      }
    }
  });

  it('says which bodies may be left out', () => {
    const required = operations.flatMap(({ operation: { operationId, requestBody } }) =>
      requestBody === undefined ? [] : [[operationId, requestBody.required]],
    );
    expect(Object.fromEntries(required)).toEqual({
      appendMessages: true,
      chat: true,
      closeSession: false,
      reopenSession: false,
      resetSession: false,
      compactSession: false,
      createSession: false,
      createTask: true,
      createTick: false,
      resumeTask: false,
      cancelTask: false,
      putAgent: true,
      updateSession: true,
    });
  });

  it('has a body example for every operation with a body, and the service takes it', async () => {
    const stub = await startModelStub((_, __, { body }) =>
      body.includes('"broken"') ? { status: 401, body: {} } : { content: 'Berth 12 is free.' },
    );
    const service = await startService(modelAt(stub.url, { MAIN_MODEL: 'stub-1' }));
    await service.agent('ferry-clerk');
    await service.agent('broken', { model: 'broken' });
    await service.agent('watchman', { daemon: { prompt: 'Look.' } });
    const task = await newTask(service, 'broken', { input: 'x' });
    for (const { path, method, operation } of operations) {
      const schema = operation.requestBody?.content['application/json']?.schema.$ref.split('/').at(-1) ?? '';
      const [example] = document.components.schemas[schema]?.examples ?? [];
      if (operation.requestBody === undefined) continue;
      expect(example).toBeTypeOf('object');
      // A task that has failed can be resumed, and cancelled.
      if (path.startsWith('/tasks')) await until(service, task, 'failed');
      const id = path.startsWith('/tasks') ? task : 'trip-to-oslo';
      const name = path.endsWith('/ticks') ? 'watchman' : 'ferry-clerk';
      const url = path.replace('{id}', id).replace('{name}', name);
      const answer = await service.call(METHODS[method], url, example);
      expect([operation.operationId, answer.status < 300]).toEqual([operation.operationId, true]);
    }
  });
});

describe('answers', () => {
  const ajv = formats.default(new Ajv2020({ strict: false, allErrors: true }));
  beforeAll(() => {
    ajv.addSchema({ $id: 'document', ...document });
  });

  it('are what the document says, for every operation and many errors', async () => {
    const stub = await startModelStub((_, index) =>
      index === 2 ? { content: '' } : { content: `S${index}` },
    );
    const service = await startService(modelAt(stub.url, { MAIN_MODEL: 'stub-1' }));
    const seen = new Set<string>();
    const go = async (operationId: string, url: string, body?: unknown, headers?: Record<string, string>) => {
      const found = operations.find(({ operation }) => operation.operationId === operationId);
      const answer = await service.call(METHODS[found?.method ?? ''], url, body, headers);
      const declared = found?.operation.responses[String(answer.status)];
      expect([operationId, answer.status, declared !== undefined]).toEqual([
        operationId,
        answer.status,
        true,
      ]);
      seen.add(`${operationId} ${answer.status}`);
      const type = String(answer.headers['content-type'] ?? '').split(';')[0] ?? '';
      if (answer.text === '') return answer;
      const schema = declared?.content?.[type]?.schema;
      expect([operationId, type, schema !== undefined]).toEqual([operationId, type, true]);
      const reference = schema?.$ref === undefined ? schema : { $ref: schema.$ref.replace('#', 'document#') };
      const validate = ajv.compile(reference ?? false);
      const bodies =
        type === 'text/event-stream'
          ? eventsOf(answer.text).map(({ event, data }) => ({ event, data }))
          : [answer.body];
      expect(bodies).not.toEqual([]);
      for (const body of bodies) {
        expect({ operationId, valid: validate(body), errors: validate.errors }).toEqual({
          operationId,
          valid: true,
          errors: null,
        });
      }
      return answer;
    };
    const conversation = [system('s'), ...turns(6, 100), user('q'), calls(['c']), result('c', 'r')];
    await go('putAgent', '/agents/clerk', { name: 'clerk' });
    await go('putAgent', '/agents/guide', { subagents: ['clerk'], daemon: { prompt: 'Look.' } });
    await go('putAgent', '/agents/guide', { subagents: ['clerk'] });
    await go('putAgent', '/agents/guide', { subagents: ['nobody'] });
    await go('listAgents', '/agents?limit=1');
    await go('getAgent', '/agents/guide');
    await go('getAgent', '/agents/nobody');
    await go('deleteAgent', '/agents/clerk');
    await go('createSession', '/sessions', { agent: 'nobody' });
    await go('createSession', '/sessions', { id: 's', messages: conversation, metadata: { a: 1 } });
    await go('createSession', '/sessions', { id: 's' });
    await go('createSession', '/sessions');
    await go('listSessions', '/sessions?limit=1');
    await go('compactSession', '/sessions/s/compact', { dryRun: true });
    await go('compactSession', '/sessions/s/compact');
    await go('compactSession', '/sessions/s/compact', { keepRecent: 1_000 });
    await go('compactSession', '/sessions/s/compact', { instructions: 'short' });
    await go('compactSession', '/sessions/s/compact');
    await go('compactSession', '/sessions/none/compact');
    await go('chat', '/agents/clerk/chat', { message: 'q' });
    await go('chat', '/agents/clerk/chat', { message: 'q', sessionId: 'none' });
    await go('chat', '/agents/none/chat', { message: 'q' });
    await go('chat', '/agents/clerk/chat', { message: '' });
    await go('chat', '/agents/clerk/chat', { message: 'q', stream: true });
    const { body: task } = await go('createTask', '/agents/clerk/tasks', { input: 'q' });
    await go('createTask', '/agents/none/tasks', { input: 'q' });
    await go('followTask', `/tasks/${task.id}/events`);
    await go('followTask', `/tasks/${task.id}/events`, undefined, { 'last-event-id': '99' });
    await go('followTask', '/tasks/none/events');
    await go('getTask', `/tasks/${task.id}`);
    await go('getTask', '/tasks/none');
    await go('resumeTask', `/tasks/${task.id}/resume`, { message: 'q' });
    await go('cancelTask', `/tasks/${task.id}/cancel`);
    await go('createTick', '/agents/clerk/ticks');
    await go('listTasks', '/tasks?limit=1');
    await go('listCompactions', '/sessions/s/compactions?limit=2');
    await go('appendMessages', '/sessions/s/messages', {
      messages: [{ role: 'user', content: [{ type: 'text', text: 'x', extra: 1 }], more: null }],
    });
    await go('appendMessages', '/sessions/s/messages', { messages: 5 });
    await go('listMessages', '/sessions/s/messages?limit=5');
    await go('getContext', '/sessions/s/context');
    await go('getContext', '/sessions/none/context');
    await go('updateSession', '/sessions/s', { title: 'T' });
    await go('updateSession', '/sessions/s', { title: 'T' }, { 'if-match': '"1"' });
    await go('getSession', '/sessions/s');
    await go('closeSession', '/sessions/s/close');
    await go('appendMessages', '/sessions/s/messages', { messages: [user('x')] });
    await go('reopenSession', '/sessions/s/reopen');
    await go('resetSession', '/sessions/s/reset');
    await go('deleteSession', '/sessions/s');
    await go('deleteSession', '/sessions/s');
    await go('deleteAgent', '/agents/guide');
    await go('getLiveness', '/livez');
    await go('getReadiness', '/readyz');
    await go('getSession', '/sessions/s', undefined, { host: 'evil.example' });
    expect(seen).toContain('compactSession 500');
    expect(new Set([...seen].map((entry) => entry.split(' ')[0])).size).toBe(operations.length);
  });
});
