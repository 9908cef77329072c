import { describe, expect, it } from 'vitest';
import type { ChatMessage } from '../../src/compaction/measure.js';
import { calls, system, text, turns, user } from '../support/messages.js';
import { type ModelStub, OVERFLOW, type StubScript, startModelStub } from '../support/model-stub.js';
import { startService, type TestService } from '../support/service.js';
import { strictViolation } from '../support/strict.js';

interface Setup {
  readonly service: TestService;
  readonly chat: ModelStub;
  readonly summaries: ModelStub;
  say(
    sessionId: string | undefined,
    message: string,
    headers?: Record<string, string>,
  ): ReturnType<TestService['call']>;
}

/** An agent with automatic compaction, its model, and another endpoint that writes the summaries. */
async function setup(
  auto: object | undefined,
  scripts: { readonly chat?: StubScript; readonly summary?: StubScript } = {},
  agent: object = {},
  variables: Record<string, string> = {},
): Promise<Setup> {
  const chat = await startModelStub(scripts.chat ?? (() => ({ content: 'A reply.', usage: null })));
  const summaries = await startModelStub(scripts.summary ?? ((_, index) => ({ content: `SUM-${index}` })));
  const service = await startService({
    OPENAI_BASE_URL: chat.url,
    MAIN_MODEL: 'main-1',
    MAIN_RETRIES: '0',
    COMPACT_BASE_URL: summaries.url,
    COMPACT_MODEL: 'sum-1',
    COMPACT_RETRIES: '0',
    WINDOW_DISCOVERY: 'off',
    ...variables,
  });
  const defaultCompaction = { compactionCount: 50, ...(auto === undefined ? {} : { auto }) };
  await service.call('PUT', '/agents/clerk', { defaultCompaction, ...agent });
  const say: Setup['say'] = (sessionId, message, headers) =>
    service.call(
      'POST',
      '/agents/clerk/chat',
      { message, ...(sessionId === undefined ? {} : { sessionId }) },
      headers,
    );
  return { service, chat, summaries, say };
}

const lastRequest = ({ bodies }: ModelStub) => (bodies.at(-1)?.messages ?? []) as unknown as ChatMessage[];
const sizeOf = async (service: TestService, id: string) =>
  (await service.call('GET', `/sessions/${id}`)).body;

describe('automatic compaction before a model call', () => {
  it('folds the share of the session when the context is over the limit, and leaves the new message out', async () => {
    const { service, chat, summaries, say } = await setup({ maxTokens: 500 });
    const id = await service.session([system('Be terse.'), ...turns(10, 300)], { agent: 'clerk' });
    const answer = await say(id, 'The new question ZX-41');
    expect(answer.status).toBe(200);
    expect(answer.body.compaction).toMatchObject({ fromSize: 0, charsBefore: 3_022 });
    expect(summaries.prompts).toHaveLength(1);
    expect(summaries.prompts[0]).not.toContain('ZX-41');
    const sent = lastRequest(chat);
    expect(sent.map(({ role }) => role)).toEqual(expect.arrayContaining(['system', 'user', 'assistant']));
    expect(JSON.stringify(sent).split('ZX-41')).toHaveLength(2);
    expect(JSON.stringify(sent).split('SUM-0')).toHaveLength(2);
    expect(strictViolation(sent)).toBeNull();
    const { compact_size, message_count } = await sizeOf(service, id);
    expect(message_count).toBe(13);
    expect(sent).toHaveLength(1 + 2 + (11 - compact_size));
  });

  it('does nothing below the limit, and nothing when it is not configured', async () => {
    for (const auto of [{ maxTokens: 100_000 }, undefined]) {
      const { service, summaries, say } = await setup(auto);
      const id = await service.session(turns(10, 300), { agent: 'clerk' });
      expect((await say(id, 'q')).status).toBe(200);
      expect(summaries.prompts).toHaveLength(0);
    }
  });

  it('stops after three rounds that gain nothing, until a compaction by hand (B13)', async () => {
    const { service, summaries, say } = await setup(
      { maxTokens: 50 },
      { summary: () => ({ content: 'A summary that is longer than the two messages.' }) },
    );
    const id = await service.session([system('s'.repeat(5_000)), user('u'.repeat(10))], { agent: 'clerk' });
    const requests: number[] = [];
    for (let turn = 0; turn < 5; turn += 1) {
      expect((await say(id, 'abcdefghij')).status).toBe(200);
      requests.push(summaries.prompts.length);
    }
    expect(requests).toEqual([1, 2, 3, 3, 3]);
    expect((await sizeOf(service, id)).auto_compaction).toEqual({
      state: 'stopped',
      failures: 3,
      error: 'The context is still over its limit, and not even a twentieth shorter than before',
    });
    expect((await service.compact(id, { compactCount: 99 })).status).toBe(200);
    expect((await sizeOf(service, id)).auto_compaction).toEqual({ state: 'on', failures: 0, error: null });
  });

  it('goes by the count of the endpoint, never by one from before a compaction (B14)', async () => {
    const reported = [90_000, 5_000, 5_000, 5_000];
    const { service, summaries, say } = await setup(
      { maxTokens: 80_000 },
      { chat: (_, index) => ({ content: 'A reply.', usage: [reported[index] ?? 0, 10] }) },
    );
    const id = await service.session(turns(10, 300), { agent: 'clerk' });
    for (let turn = 0; turn < 4; turn += 1) expect((await say(id, `q${turn}`)).status).toBe(200);
    expect(summaries.prompts).toHaveLength(1);
  });

  it('sees that Han characters are about a token each (B64)', async () => {
    const { service, summaries, say } = await setup(
      { maxShare: 0.8 },
      {},
      {},
      { MAIN_WINDOW_TOKENS: '64000', COMPACT_WINDOW_TOKENS: '200000' },
    );
    const han = Array.from({ length: 60_000 }, (_, i) =>
      String.fromCodePoint(0x4e00 + ((i * 7_919) % 20_000)),
    ).join('');
    const id = await service.session([user(han), { role: 'assistant', content: 'ok' }], { agent: 'clerk' });
    expect((await say(id, 'q')).status).toBe(200);
    expect(summaries.prompts.length).toBeGreaterThan(0);
  });

  it('never fails a turn that the endpoint takes (B75)', async () => {
    const { service, summaries, say } = await setup(
      { maxTokens: 300 },
      { summary: () => ({ status: 500, body: { error: { message: 'down' } } }) },
    );
    const id = await service.session(turns(10, 300), { agent: 'clerk' });
    const answer = await say(id, 'KEEP-3');
    expect(answer.status).toBe(200);
    expect(answer.body.compaction).toBeUndefined();
    expect(summaries.prompts).toHaveLength(1);
    const stored = await service.messages(id);
    expect(stored.filter(({ content }) => content === 'KEEP-3')).toHaveLength(1);
    expect((await sizeOf(service, id)).auto_compaction).toMatchObject({ state: 'on', failures: 1 });
    const listed = (await service.call('GET', `/sessions/${id}/compactions`)).body.data[0];
    expect(listed).toMatchObject({
      trigger: 'automatic',
      outcome: 'failed',
      error_code: 'MODEL_UNAVAILABLE',
    });
  });
});

describe('an endpoint for summaries that is down', () => {
  it('is left alone by automatic work, which is no failure of a session; by hand it is tried', async () => {
    const { service, summaries, say } = await setup(
      { maxTokens: 300 },
      { summary: () => ({ status: 503, body: { error: { message: 'down' } } }) },
    );
    const ids: string[] = [];
    for (let n = 0; n < 6; n += 1) ids.push(await service.session(turns(10, 300), { agent: 'clerk' }));
    for (const id of ids) expect((await say(id, 'q')).status).toBe(200);
    expect(summaries.prompts).toHaveLength(5);
    const last = ids[5] ?? '';
    expect((await sizeOf(service, last)).auto_compaction).toEqual({ state: 'on', failures: 0, error: null });
    expect((await service.call('GET', `/sessions/${last}/compactions`)).body.data).toEqual([]);
    expect((await service.compact(last)).body.code).toBe('MODEL_UNAVAILABLE');
    expect(summaries.prompts).toHaveLength(6);
  });
});

describe('an overflow in chat', () => {
  const overflowing: StubScript = (_, __, { body }) =>
    body.length > 3_000 ? OVERFLOW : { content: 'A reply.', usage: null };

  it('is answered by one compaction and one more request', async () => {
    const { service, chat, summaries, say } = await setup({ maxTokens: 1_000_000 }, { chat: overflowing });
    const id = await service.session(turns(10, 400), { agent: 'clerk' });
    const answer = await say(id, 'q');
    expect(answer.status).toBe(200);
    expect([chat.bodies.length, summaries.bodies.length]).toEqual([2, 1]);
    expect(answer.body.compaction).toMatchObject({ fromSize: 0 });
  });

  it('is a clear error where automatic compaction is off, and compacting by hand helps (B154)', async () => {
    const { service, chat, summaries, say } = await setup(undefined, { chat: overflowing });
    const id = await service.session(turns(10, 400), { agent: 'clerk' });
    const key = { 'idempotency-key': 'k' };
    const answer = await say(id, 'q', key);
    expect([answer.status, answer.body.code]).toEqual([502, 'CONTEXT_OVERFLOW']);
    expect([chat.bodies.length, summaries.bodies.length]).toEqual([1, 0]);
    expect((await service.compact(id, { compactCount: 90 })).status).toBe(200);
    expect((await say(id, 'q', key)).status).toBe(200);
    expect((await service.messages(id)).filter(({ content }) => content === 'q')).toHaveLength(1);
  });
});

describe('a long tool loop in one turn', () => {
  it('folds answered groups, carries the question word for word, and folds it when the turn is over', async () => {
    const rounds = 30;
    const { service, chat, summaries, say } = await setup(
      { maxTokens: 900 },
      {
        chat: (_, index) =>
          index < rounds
            ? { content: null, message: calls([`c${index}`]), finish: 'tool_calls', usage: null }
            : { content: 'Done: QUESTION-7 is answered.', usage: null },
      },
      { tools: [{ type: 'function', function: { name: 'look', parameters: { type: 'object' } } }] },
    );
    let answer = await say(undefined, 'QUESTION-7: find the berth');
    const id = answer.body.sessionId;
    for (let round = 0; round < rounds; round += 1) {
      expect([answer.status, answer.body.status]).toEqual([200, 'requires_action']);
      const toolResults = [{ toolCallId: `c${round}`, content: text(400, `RESULT-${round} `) }];
      answer = await service.call('POST', '/agents/clerk/chat', { sessionId: id, toolResults });
      const sent = lastRequest(chat);
      expect(strictViolation(sent)).toBeNull();
      expect(JSON.stringify(sent).split('QUESTION-7')).toHaveLength(2);
      expect(JSON.stringify(sent)).toContain(`RESULT-${round} `);
    }
    expect([answer.status, answer.body.status]).toEqual([200, 'completed']);
    expect(summaries.prompts.length).toBeGreaterThan(1);
    for (const prompt of summaries.prompts) expect(prompt).not.toContain('QUESTION-7');
    const { compact_size, message_count } = await sizeOf(service, id);
    expect(compact_size).toBeGreaterThan(1);
    expect(message_count).toBe(2 + rounds * 2);
    // The turn is over, no summary covers the question yet: the context still has it.
    expect(JSON.stringify(await service.view(id)).split('"QUESTION-7: find')).toHaveLength(2);
    const before = summaries.prompts.length;
    expect((await service.compact(id, { compactCount: 50 })).status).toBe(200);
    expect(summaries.prompts[before]).toContain('QUESTION-7: find the berth');
    expect(JSON.stringify(await service.view(id))).not.toContain('"QUESTION-7: find');
  });
});
