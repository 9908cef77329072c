import { describe, expect, it } from 'vitest';
import type { ChatMessage } from '../../src/compaction/measure.js';
import { calls, result, text, turns, user } from '../support/messages.js';
import { startModelStub } from '../support/model-stub.js';
import { modelAt, startService } from '../support/service.js';
import { ACKNOWLEDGED, append, quoted, startWithModel, summaryOf, transcriptOf } from './expected.js';

const count = (value: unknown, mark: string) => JSON.stringify(value).split(mark).length - 1;

describe('the stored history', () => {
  it('holds what was said and nothing of ours, however often it was compacted and read', async () => {
    const { service } = await startWithModel(() => ({ content: 'SUM-9 berths 12 and 14' }));
    const messages = turns(16, 100);
    const id = await service.session(messages.slice(0, 10));
    await service.compact(id);
    for (let i = 10; i < 16; i += 2) {
      await service.view(id);
      await append(service, id, ...messages.slice(i, i + 2));
    }
    await service.compact(id);

    expect(await service.messages(id)).toEqual(messages);
    const rows = service.sql('SELECT body FROM messages ORDER BY seq');
    expect(rows).toEqual(messages.map((message) => ({ body: JSON.stringify(message) })));
    const { body } = await service.call('GET', `/sessions/${id}`);
    expect(body).toMatchObject({ compact_summary: 'SUM-9 berths 12 and 14', message_count: 16 });
  });
});

describe('the summary in the context', () => {
  it('is there once in each round of a tool loop, and no folded message with it', async () => {
    const { service } = await startWithModel(() => ({ content: 'SUM-9 all of the folded part' }));
    const messages = turns(10, 100);
    const id = await service.session([...messages, user('Which berths are free?')]);
    const size = (await service.compact(id)).body.newSize;
    expect(size).toBe(6);

    const loop: ChatMessage[] = [];
    for (const round of ['c1', 'c2', 'c3']) {
      loop.push(calls([round]), result(round, `berths of ${round}`));
      await append(service, id, ...loop.slice(-2));
      const view = await service.view(id);
      expect(count(view, 'SUM-9')).toBe(1);
      expect(messages.slice(0, size).filter(({ content }) => count(view, String(content)) > 0)).toEqual([]);
      expect(view).toEqual([
        summaryOf('SUM-9 all of the folded part'),
        ACKNOWLEDGED,
        ...messages.slice(size),
        user('Which berths are free?'),
        ...loop,
      ]);
    }
  });

  it('is told to the summarizer once, also when the request has to be sent again', async () => {
    const stub = await startModelStub((_prompt, index) =>
      index === 1 ? { status: 503, headers: { 'retry-after-ms': '1' } } : { content: `SUM-${index}` },
    );
    const service = await startService(modelAt(stub.url, { COMPACT_RETRIES: '1' }));
    const messages = turns(10, 100);
    const id = await service.session(messages);
    await service.compact(id);
    const { body } = await service.compact(id);

    expect(body.compaction).toMatchObject({ from_size: 5, to_size: 8, summary: 'SUM-2', requests: 2 });
    expect(stub.server.requests[2]?.body).toBe(stub.server.requests[1]?.body);
    expect(count(stub.prompts[2], 'SUM-0')).toBe(1);
    expect(quoted(stub.prompts[2], 'transcript')).toBe(
      transcriptOf(...messages.slice(5, 8).map(({ role, content }) => [role, content] as const)),
    );
  });
});

describe('fields that only some models know', () => {
  const thinking =
    '{"role":"assistant","content":null,"reasoning_content":"why R-2","tool_calls":[{"id":"c1","type":"function","function":{"name":"find_ferry","arguments":"{}"},"index":0}]}';
  const answered = result('c1', 'the 18:30 ferry');

  it('stay on a message that is kept, to the byte', async () => {
    const { service } = await startWithModel();
    const id = await service.session([user(500)]);
    const { status, body } = await service.call(
      'POST',
      `/sessions/${id}/messages`,
      `{"messages":[${thinking},${JSON.stringify(answered)}]}`,
    );
    expect({ status, chars: body.data.map(({ chars }) => chars) }).toEqual({ status: 201, chars: [12, 15] });
    expect((await service.compact(id)).body.newSize).toBe(1);

    const { text: view } = await service.call('GET', `/sessions/${id}/context`);
    expect(view).toContain(`,${thinking},${JSON.stringify(answered)}]`);
    expect((await service.call('GET', `/sessions/${id}/messages`)).text).toContain(`"message":${thinking}}`);
  });

  it('are no part of what the summarizer reads', async () => {
    const { service, stub } = await startWithModel();
    const message: ChatMessage = JSON.parse(thinking);
    const id = await service.session([user(text(20)), message, answered, user(10)], { compactCount: 80 });

    expect((await service.compact(id)).body.newSize).toBe(3);
    expect(stub.server.requests[0]?.body).not.toContain('R-2');
    expect(quoted(stub.prompts[0], 'transcript')).toBe(
      transcriptOf(
        ['user', text(20)],
        ['assistant calls find_ferry', '{}'],
        ['result of find_ferry', 'the 18:30 ferry'],
      ),
    );
  });
});
