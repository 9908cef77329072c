import { Validator } from '@seriousme/openapi-schema-validator';
import { describe, expect, it } from 'vitest';
import { startService, type TestService } from '../support/service.js';
import { startWithModel } from './session-state.js';

type Json = { readonly [key: string]: Json } & {
  readonly type?: unknown;
  readonly examples?: readonly unknown[];
};

async function documentOf(service: TestService): Promise<Json> {
  const { status, text } = await service.call('GET', '/openapi.json');
  expect(status).toBe(200);
  return JSON.parse(text);
}

const schemaOf = (document: Json, name: string) => document['components']?.['schemas']?.[name];

describe('the OpenAPI document', () => {
  it('is valid OpenAPI 3.1', async () => {
    const document = await documentOf(await startService());
    expect(document['openapi']).toBe('3.1.0');
    const validator = new Validator();
    const result = await validator.validate(structuredClone(document));
    expect(result).toEqual({ valid: true });
    expect(validator.version).toBe('3.1');
  });

  it('says what may be null, and loses no alternative', async () => {
    const document = await documentOf(await startService());
    const typeOf = (name: string, field: string) => schemaOf(document, name)?.['properties']?.[field]?.type;
    expect(typeOf('ChatMessage', 'content')).toEqual(['string', 'array', 'null']);
    expect(typeOf('ChatMessage', 'tool_calls')).toEqual(['array', 'null']);
    expect(typeOf('Session', 'compact_summary')).toEqual(['string', 'null']);
    expect(typeOf('Session', 'metadata')).toEqual(['object', 'null']);
    expect(typeOf('Compaction', 'summary')).toEqual(['string', 'null']);
    const compaction = schemaOf(document, 'CompactResult')?.['properties']?.['compaction'];
    expect(JSON.stringify(compaction?.['oneOf'])).toBe(
      '[{"$ref":"#/components/schemas/Compaction"},{"type":"null"}]',
    );
  });

  it('names every operation of the contract once', async () => {
    const document = await documentOf(await startService());
    const paths: Readonly<Record<string, Record<string, Json>>> = document['paths'] ?? {};
    const operations = Object.values(paths).flatMap((item) =>
      Object.values(item).map((operation) => String(operation['operationId'])),
    );
    expect(operations.sort()).toEqual([
      'appendMessages',
      'cancelTask',
      'chat',
      'closeSession',
      'compactSession',
      'createSession',
      'createTask',
      'createTick',
      'deleteAgent',
      'deleteSession',
      'followTask',
      'getAgent',
      'getContext',
      'getLiveness',
      'getReadiness',
      'getSession',
      'getTask',
      'listAgents',
      'listCompactions',
      'listMessages',
      'listSessions',
      'listTasks',
      'putAgent',
      'reopenSession',
      'resetSession',
      'resumeTask',
      'updateSession',
    ]);
  });

  it('gives examples that the service takes', async () => {
    const { service } = await startWithModel({ content: 'S1' });
    const document = await documentOf(service);
    const examplesOf = (name: string) => schemaOf(document, name)?.examples ?? [];
    const sent: { path: string; method: 'POST' | 'PATCH'; example: unknown; status: number }[] = [];
    for (const example of examplesOf('CreateSession')) {
      sent.push({ method: 'POST', path: '/sessions', example, status: 201 });
    }
    for (const example of examplesOf('AppendMessages')) {
      sent.push({ method: 'POST', path: '/sessions/s1/messages', example, status: 201 });
    }
    for (const name of ['ChatMessage', 'ContentPart', 'ToolCall']) {
      for (const example of examplesOf(name)) {
        const message = {
          ChatMessage: example,
          ContentPart: { role: 'user', content: [example] },
          ToolCall: { role: 'assistant', content: null, tool_calls: [example] },
        }[name];
        sent.push({
          method: 'POST',
          path: '/sessions/s1/messages',
          example: { messages: [message] },
          status: 201,
        });
      }
    }
    for (const example of examplesOf('UpdateSession')) {
      sent.push({ method: 'PATCH', path: '/sessions/s1', example, status: 200 });
    }
    for (const example of examplesOf('CompactSession')) {
      sent.push({ method: 'POST', path: '/sessions/s1/compact', example, status: 200 });
    }
    expect(sent.length).toBeGreaterThanOrEqual(7);

    await service.session([], { id: 's1' });
    for (const { method, path, example, status } of sent) {
      const answer = await service.call(method, path, example);
      expect({ path, status: answer.status }).toEqual({ path, status });
    }
  });

  it('declares every status that the service was seen to answer with', async () => {
    const { service } = await startWithModel({ content: '' });
    const document = await documentOf(service);
    const id = await service.session([{ role: 'user', content: 'one' }]);
    const seen: [string, string, number][] = [
      ['/sessions', 'post', (await service.call('POST', '/sessions', { id })).status],
      ['/sessions/{id}', 'get', (await service.call('GET', '/sessions/nobody')).status],
      ['/sessions/{id}', 'patch', (await service.call('PATCH', `/sessions/${id}`, { title: 5 })).status],
      ['/sessions/{id}/compact', 'post', (await service.compact(id)).status],
      [
        '/sessions/{id}/messages',
        'post',
        (await service.call('POST', `/sessions/${id}/messages`, 'x', { 'content-type': 'text/plain' }))
          .status,
      ],
      [
        '/sessions/{id}',
        'delete',
        (await service.call('DELETE', `/sessions/${id}`, undefined, { 'if-match': '"99"' })).status,
      ],
    ];
    expect(seen.map(([, , status]) => status)).toEqual([409, 404, 400, 500, 415, 412]);
    for (const [path, method, status] of seen) {
      const declared = document['paths']?.[path]?.[method]?.['responses']?.[String(status)];
      expect({ path, method, status, declared: declared !== undefined }).toEqual({
        path,
        method,
        status,
        declared: true,
      });
    }
  });
});
