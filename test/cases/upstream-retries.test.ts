import { describe, expect, it, onTestFinished } from 'vitest';
import { turns } from '../support/messages.js';
import type { StubReply } from '../support/model-stub.js';
import { rawResponse, startRawServer } from '../support/raw-server.js';
import { modelAt, startService } from '../support/service.js';
import { expectUnharmed, lastCompaction, startWithModel, stateOf } from './session-state.js';

const RETRIES = { COMPACT_RETRIES: '2' };
const error = (message: string) => ({ error: { message } });

describe('a model that is busy', () => {
  it('is asked again after the time that it names, and once', async () => {
    const { service, stub } = await startWithModel(
      (_prompt, index) =>
        index === 0
          ? { status: 429, headers: { 'retry-after': '1' }, body: error('slow down') }
          : { content: 'S1' },
      RETRIES,
    );
    const id = await service.session(turns(8, 100));

    const { status, body } = await service.compact(id);

    expect(status).toBe(200);
    const [first, second, ...more] = stub.server.requests;
    expect(more).toEqual([]);
    expect((second?.receivedAt ?? 0) - (first?.receivedAt ?? 0)).toBeGreaterThanOrEqual(1_000);
    expect(second?.body).toBe(first?.body);
    expect(body.compaction).toMatchObject({ requests: 2, to_size: 4 });
  });

  it('is not waited for when it names more than a minute; the caller is told how long', async () => {
    const harness = await startWithModel(
      { status: 429, headers: { 'retry-after': '90' }, body: error('slow down') },
      RETRIES,
    );
    const { service, stub } = harness;
    const id = await service.session(turns(8, 100));
    const before = stateOf(service, id);
    const { status, body, headers } = await service.compact(id);
    expect({ status, code: body.code, wait: headers['retry-after'] }).toEqual({
      status: 503,
      code: 'MODEL_RATE_LIMITED',
      wait: '90',
    });
    expect(stub.server.requests.length).toBe(1);
    await expectUnharmed(harness, id, before);
  });
});

describe('a model that fails', () => {
  it('with a 500, then a broken body, then an answer, gets three equal requests', async () => {
    const server = await startRawServer((connection, { index }) => {
      const answer = JSON.stringify({
        choices: [{ index: 0, message: { role: 'assistant', content: 'S1' }, finish_reason: 'stop' }],
        usage: { prompt_tokens: 100, completion_tokens: 10 },
      });
      if (index === 0) connection.write(rawResponse({ status: 500, body: '{"error":{"message":"oops"}}' }));
      else if (index === 1) {
        connection.write(Buffer.from(rawResponse({ body: answer })).subarray(0, -40));
        connection.reset();
      } else connection.write(rawResponse({ body: answer }));
    });
    onTestFinished(() => server.stop());
    const service = await startService(modelAt(server.url, RETRIES));
    const id = await service.session(turns(8, 100));

    const { status, body } = await service.compact(id);

    expect(status).toBe(200);
    expect(server.requests.length).toBe(3);
    expect(new Set(server.requests.map((request) => request.body)).size).toBe(1);
    expect(body.session).toMatchObject({ compact_summary: 'S1', compact_size: 4, revision: 1 });
    expect(body.compaction.requests).toBe(3);
  });

  it('every time gets three requests with two retries, and not one more', async () => {
    const harness = await startWithModel({ status: 503, body: error('overloaded') }, RETRIES);
    const { service, stub } = harness;
    const id = await service.session(turns(8, 100));
    const before = stateOf(service, id);
    const { status, body } = await service.compact(id);
    expect({ status, code: body.code, retryable: body.retryable }).toEqual({
      status: 502,
      code: 'MODEL_UNAVAILABLE',
      retryable: true,
    });
    expect(stub.server.requests.length).toBe(3);
    expect((await lastCompaction(service, id)).requests).toBe(3);
    await expectUnharmed(harness, id, before);
  });

  it('is asked again within the limits of one call, whichever chunk it is', async () => {
    const { service, stub } = await startWithModel(
      (_prompt, index) => (index % 3 === 2 ? { content: `S${index}` } : { status: 503, body: error('x') }),
      { ...RETRIES, SUMMARY_CHUNK_CHARS: '1000' },
    );
    const id = await service.session(turns(4, 450));
    const { status, body } = await service.compact(id, { compactCount: 99 });
    expect(status).toBe(200);
    expect(stub.server.requests.length).toBe(6);
    expect(body.session).toMatchObject({ compact_summary: 'S5', compact_size: 4 });
  });
});

describe('a refusal that will not pass gets one request, and its status is not ours', () => {
  const refusals: readonly { name: string; reply: StubReply; status: number; code: string }[] = [
    { name: '401', reply: { status: 401, body: error('bad key') }, status: 502, code: 'MODEL_AUTH' },
    { name: '403', reply: { status: 403, body: error('not yours') }, status: 502, code: 'MODEL_AUTH' },
    { name: '402', reply: { status: 402, body: error('no credit') }, status: 502, code: 'MODEL_QUOTA' },
    { name: '404', reply: { status: 404, body: error('no model') }, status: 502, code: 'MODEL_REJECTED' },
    { name: '400', reply: { status: 400, body: error('bad field') }, status: 502, code: 'MODEL_REJECTED' },
    { name: '422', reply: { status: 422, body: error('bad field') }, status: 502, code: 'MODEL_REJECTED' },
    {
      name: '429 of an empty account',
      reply: {
        status: 429,
        body: { error: { message: 'You exceeded your current quota', code: 'insufficient_quota' } },
      },
      status: 502,
      code: 'MODEL_QUOTA',
    },
  ];

  it.each(refusals)('$name', async ({ reply, status, code }) => {
    const harness = await startWithModel(reply, { ...RETRIES, OPENAI_API_KEY: 'sk-very-secret' });
    const { service, stub } = harness;
    const id = await service.session(turns(8, 100));
    const before = stateOf(service, id);

    const answer = await service.compact(id);

    expect({ status: answer.status, code: answer.body.code, retryable: answer.body.retryable }).toEqual({
      status,
      code,
      retryable: false,
    });
    expect(stub.server.requests.length).toBe(1);
    expect(answer.text.includes('sk-very-secret')).toBe(false);
    expect(answer.headers['www-authenticate']).toBeUndefined();
    expect(await lastCompaction(service, id)).toMatchObject({
      outcome: 'failed',
      error_code: code,
      requests: 1,
      usage: { input_tokens: null, output_tokens: null },
    });
    await expectUnharmed(harness, id, before);
  });
});

describe('the address of the model', () => {
  it.each([
    { base: '', path: '/v1/chat/completions' },
    { base: '/', path: '/v1/chat/completions' },
    { base: '/v1', path: '/v1/chat/completions' },
    { base: '/v1/', path: '/v1/chat/completions' },
    { base: '/proxy/v1', path: '/proxy/v1/chat/completions' },
    { base: '/proxy/v1//', path: '/proxy/v1/chat/completions' },
    { base: '/v1/chat/completions', path: '/v1/chat/completions' },
    {
      base: '/openai/deployments/d?api-version=1',
      path: '/openai/deployments/d/chat/completions?api-version=1',
    },
  ])('may be written as http://host$base', async ({ base, path }) => {
    const { stub, service: unused } = await startWithModel({ content: 'S1' });
    await unused.close();
    const service = await startService(modelAt(`${stub.url}${base}`));
    const id = await service.session(turns(8, 100));
    expect((await service.compact(id)).status).toBe(200);
    expect(stub.server.requests.map((request) => `${request.method} ${request.path}`)).toEqual([
      `POST ${path}`,
    ]);
  });
});
