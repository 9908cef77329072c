import { describe, expect, it } from 'vitest';
import { assistant, calls, result, user } from '../support/messages.js';
import { callOf, quoted, startWithModel, summaryOf, transcriptOf } from './expected.js';

describe('history with results that answer no call', () => {
  const messages = [
    result('c0', 100),
    user(100),
    calls(['c1']),
    result('c1', 100),
    result('cX', 100),
    assistant(100),
    user(100),
  ];

  it('is taken, counted and folded row by row', async () => {
    const { service, stub } = await startWithModel();
    const id = await service.session([], { compactCount: 30 });
    const { status, body } = await service.call('POST', `/sessions/${id}/messages`, { messages });
    expect(status).toBe(201);
    expect(body.data.map(({ position, chars }) => [position, chars])).toEqual(
      [100, 100, 8, 100, 100, 100, 100].map((chars, position) => [position, chars]),
    );

    expect((await service.compact(id)).body).toMatchObject({ compactedCount: 2, newSize: 2 });

    expect(await service.messages(id)).toEqual(messages);
    expect(await service.view(id)).toEqual([summaryOf('S1'), ...messages.slice(2)]);
    expect(quoted(stub.prompts[0], 'transcript')).toBe(
      transcriptOf(['tool result', messages[0]?.content], ['user', messages[1]?.content]),
    );
  });

  it('keeps a stray result with the run it stands in', async () => {
    const { service } = await startWithModel();
    const id = await service.session(messages);
    const sizes = [];
    for (const compactCount of [16, 33, 34, 50, 60, 83, 99]) {
      sizes.push((await service.compact(id, { compactCount, dryRun: true })).body.newSize);
    }
    expect(sizes).toEqual([1, 2, 5, 5, 5, 6, 7]);
  });

  it('may begin anywhere: a run of results alone is no group, and is cut where the share ends', async () => {
    const { service } = await startWithModel();
    const orphans = [result('c0', 100), result('c0', 100), result('c1', 100), user(100)];
    const id = await service.session(orphans, { compactCount: 26 });

    expect((await service.compact(id)).body.newSize).toBe(2);
    expect(await service.view(id)).toHaveLength(4);
  });
});

describe('call arguments that are no JSON object', () => {
  const broken = [
    '{"path":"a',
    '',
    '[]',
    'null',
    '"text"',
    '{"a":1} and more',
    '{"n":1e400}',
    '\\u00',
    '\n\t',
  ];

  it.each(broken)('are kept as they are and do not hinder a compaction: %j', async (args) => {
    const { service, stub } = await startWithModel();
    const messages = [user(100), callOf('c1', 'read_file', args), result('c1', 100), user(100)];
    const id = await service.session(messages);
    expect(await service.view(id)).toEqual(messages);

    const { status, body } = await service.compact(id);

    expect({ status, newSize: body.newSize }).toEqual({ status: 200, newSize: 3 });
    expect(quoted(stub.prompts[0], 'transcript')).toBe(
      transcriptOf(
        ['user', messages[0]?.content],
        ['assistant calls read_file', args],
        ['result of read_file', messages[2]?.content],
      ),
    );
    const { text } = await service.call('GET', `/sessions/${id}/messages`);
    expect(text).toContain(`"arguments":${JSON.stringify(args)}`);
    expect(await service.messages(id)).toEqual(messages);
  });
});
