import { describe, expect, it, onTestFinished } from 'vitest';
import { turns } from '../support/messages.js';
import { rawResponse, startRawServer } from '../support/raw-server.js';
import { modelAt, startService } from '../support/service.js';

const json = (value: object, status = 200) => rawResponse({ status, body: JSON.stringify(value) });
const reply = (content: string, promptTokens: number) =>
  json({
    choices: [{ message: { role: 'assistant', content }, finish_reason: 'stop' }],
    usage: { prompt_tokens: promptTokens, completion_tokens: 5 },
  });

/** An endpoint that tells its window in the model list, and takes what fits: bytes / 3 as tokens. */
async function startEndpoint(windowTokens: number | null, tells: boolean) {
  const sizes: number[] = [];
  const server = await startRawServer((connection, { method, path, body }) => {
    if (method === 'GET') {
      const list = { data: [{ id: 'stub-1', max_model_len: windowTokens }] };
      connection.write(path === '/v1/models' && tells ? json(list) : json({}, 404));
      return;
    }
    const request: { messages: { content: string }[] } = JSON.parse(body);
    const tokens = Math.ceil(Buffer.byteLength(request.messages[0]?.content ?? '') / 3);
    sizes.push(tokens);
    const fits = windowTokens === null || tokens <= windowTokens;
    const refusal = {
      error: { message: `maximum context length is ${windowTokens} tokens`, code: 'context_length_exceeded' },
    };
    connection.write(fits ? reply('S', tokens) : json(refusal, 400));
  });
  onTestFinished(() => server.stop());
  return { url: server.url, sizes, server };
}

describe('the window of the summarizer', () => {
  it('is asked of the endpoint, once, and no request is larger', async () => {
    const endpoint = await startEndpoint(4_000, true);
    const service = await startService(modelAt(endpoint.url, { WINDOW_DISCOVERY: 'on' }));
    const first = await service.compact(await service.session(turns(40, 1_000)), { compactCount: 99 });
    expect(first.body).toMatchObject({ alreadyUpToDate: false, newSize: 40 });
    expect(endpoint.sizes.length).toBeGreaterThan(4);
    expect(Math.max(...endpoint.sizes)).toBeLessThanOrEqual(4_000);
    const asked = () => endpoint.server.requests.filter(({ path }) => path === '/v1/models').length;
    expect(asked()).toBe(1);
    await service.compact(await service.session(turns(40, 1_000)));
    expect(asked()).toBe(1);
  });

  it('gives way to the configured one', async () => {
    const endpoint = await startEndpoint(100_000, true);
    const variables = { WINDOW_DISCOVERY: 'on', COMPACT_WINDOW_TOKENS: '3000' };
    const service = await startService(modelAt(endpoint.url, variables));
    await service.compact(await service.session(turns(20, 1_000)), { compactCount: 99 });
    expect(Math.max(...endpoint.sizes)).toBeLessThanOrEqual(3_000);
    expect(endpoint.server.requests.every(({ method }) => method === 'POST')).toBe(true);
  });

  it('is learned from refusals when nobody tells: the next compaction begins with what was taken', async () => {
    const endpoint = await startEndpoint(6_000, false);
    const service = await startService(modelAt(endpoint.url, { WINDOW_DISCOVERY: 'on' }));
    expect(
      (await service.compact(await service.session(turns(40, 1_000)), { compactCount: 99 })).status,
    ).toBe(200);
    expect(endpoint.sizes[0]).toBeGreaterThan(6_000);
    const before = endpoint.sizes.length;
    expect(
      (await service.compact(await service.session(turns(40, 1_000)), { compactCount: 99 })).status,
    ).toBe(200);
    expect(Math.max(...endpoint.sizes.slice(before))).toBeLessThanOrEqual(6_000);
  });

  it('that was learned and is small never stops what worked', async () => {
    const endpoint = await startEndpoint(2_200, false);
    const service = await startService(modelAt(endpoint.url, { WINDOW_DISCOVERY: 'on' }));
    for (let i = 0; i < 3; i += 1) {
      const answer = await service.compact(await service.session(turns(12, 1_000)), { compactCount: 99 });
      expect([answer.status, answer.body.newSize]).toEqual([200, 12]);
    }
  });

  it('is not asked for by a dry run, nor at all when that is switched off', async () => {
    const endpoint = await startEndpoint(4_000, true);
    const asking = await startService(modelAt(endpoint.url, { WINDOW_DISCOVERY: 'on' }));
    await asking.compact(await asking.session(turns(4, 100)), { dryRun: true });
    expect(endpoint.server.requests.length).toBe(0);
    const service = await startService(modelAt(endpoint.url));
    await service.compact(await service.session(turns(4, 100)));
    expect(endpoint.server.requests.map(({ method }) => method)).toEqual(['POST']);
  });
});
