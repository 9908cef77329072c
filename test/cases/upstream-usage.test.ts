import { describe, expect, it } from 'vitest';
import { turns } from '../support/messages.js';
import type { StubReply } from '../support/model-stub.js';
import { compactionsOf, startWithModel } from './session-state.js';

describe('the cost of summaries', () => {
  it('is on the compactions, that of rejected replies and of failed requests too', async () => {
    const usage = [1_000, 50] as const;
    const replies: readonly StubReply[] = [
      { content: 'S1', usage },
      { content: '', usage },
      {
        status: 500,
        body: { error: { message: 'oops' }, usage: { prompt_tokens: 7, completion_tokens: 3 } },
      },
      { content: 'S2', usage },
    ];
    const { service } = await startWithModel((_prompt, index) => replies[index] ?? { hang: true }, {
      COMPACT_RETRIES: '1',
    });
    const id = await service.session(turns(20, 100));

    expect((await service.compact(id)).status).toBe(200);
    expect((await service.compact(id)).body.code).toBe('EMPTY_SUMMARY');
    expect((await service.compact(id)).status).toBe(200);

    const records = await compactionsOf(service, id);
    expect(records.map(({ outcome, requests, usage: cost }) => ({ outcome, requests, cost }))).toEqual([
      { outcome: 'completed', requests: 2, cost: { input_tokens: 1_007, output_tokens: 53 } },
      { outcome: 'failed', requests: 1, cost: { input_tokens: 1_000, output_tokens: 50 } },
      { outcome: 'completed', requests: 1, cost: { input_tokens: 1_000, output_tokens: 50 } },
    ]);
    expect((await service.call('GET', `/sessions/${id}`)).text).toContain(
      '"input_tokens":0,"output_tokens":0',
    );
  });

  it('of several chunks is the sum of those that said it', async () => {
    const { service } = await startWithModel(
      (_prompt, index) => ({ content: `S${index}`, usage: index === 1 ? null : [100, 10] }),
      { SUMMARY_CHUNK_CHARS: '1000' },
    );
    const id = await service.session(turns(6, 450));
    const { body } = await service.compact(id, { compactCount: 99 });
    expect(body.compaction).toMatchObject({ requests: 3, usage: { input_tokens: 200, output_tokens: 20 } });
  });
});

describe('an answer without a usable count of tokens is as good as any; what is unknown is null', () => {
  const unknown = { input_tokens: null, output_tokens: null };
  const odd: readonly { name: string; usage: StubReply['usage']; expected: object }[] = [
    { name: 'none', usage: null, expected: unknown },
    { name: 'an empty one', usage: {}, expected: unknown },
    { name: 'only a total', usage: { total_tokens: 110 }, expected: unknown },
    { name: 'words', usage: { prompt_tokens: 'many', completion_tokens: 'few' }, expected: unknown },
    { name: 'nulls', usage: { prompt_tokens: null, completion_tokens: null }, expected: unknown },
    { name: 'negative numbers', usage: { prompt_tokens: -1, completion_tokens: -5 }, expected: unknown },
    { name: 'zeros', usage: { prompt_tokens: 0, completion_tokens: 0 }, expected: unknown },
    { name: 'only the input', usage: { prompt_tokens: 100 }, expected: { ...unknown, input_tokens: 100 } },
    {
      name: 'only the output',
      usage: { completion_tokens: 10 },
      expected: { ...unknown, output_tokens: 10 },
    },
  ];

  it.each(odd)('$name', async ({ usage, expected }) => {
    const { service } = await startWithModel({ content: 'S1', ...(usage === undefined ? {} : { usage }) });
    const id = await service.session(turns(8, 100));
    const { status, body } = await service.compact(id);
    expect(status).toBe(200);
    expect(body.session).toMatchObject({ compact_summary: 'S1', compact_size: 4 });
    expect(body.compaction.usage).toEqual(expected);
  });

  it.each([
    { name: 'null', usage: null },
    { name: 'a word', usage: 'none' },
    { name: 'a list', usage: [] },
    { name: 'numbers as strings', usage: { prompt_tokens: '100', completion_tokens: '10' } },
  ])('$name in its place', async ({ usage }) => {
    const { service } = await startWithModel({
      body: { choices: [{ message: { role: 'assistant', content: 'S1' }, finish_reason: 'stop' }], usage },
    });
    const id = await service.session(turns(8, 100));
    const { status, body } = await service.compact(id);
    expect(status).toBe(200);
    expect(body.session.compact_summary).toBe('S1');
    expect(body.compaction.usage).toEqual(unknown);
  });
});
