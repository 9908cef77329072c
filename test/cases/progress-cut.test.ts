import { describe, expect, it } from 'vitest';
import { assistant, calls, result, text, turns, user } from '../support/messages.js';
import type { TestService } from '../support/service.js';
import { append, callOf, quoted, sessionOf, startWithModel, transcriptOf } from './expected.js';

/** Compacts until there is nothing to do. Gives the pointer after each call that advanced, and the last reason. */
async function sizesUntilDone(service: TestService, id: string) {
  const sizes: number[] = [];
  for (let call = 0; call < 50; call += 1) {
    const { body } = await service.compact(id);
    expect(body.compactedCount).toBe(body.newSize - (sizes.at(-1) ?? 0));
    if (body.alreadyUpToDate) return { sizes, reason: body.reason };
    sizes.push(body.newSize);
  }
  throw new Error(`no end: ${sizes.join()}`);
}

describe('the share that one compaction folds', () => {
  it('is at least one message, however large, and each call goes on from there', async () => {
    const { service, stub } = await startWithModel();
    const id = await service.session([user(9_000), assistant(500), user(500)], { compactCount: 10 });

    expect(await sizesUntilDone(service, id)).toEqual({ sizes: [1, 2, 3], reason: 'nothing_new' });
    expect(stub.prompts).toHaveLength(3);
  });

  it('is one of chars, not of messages', async () => {
    const { service } = await startWithModel();
    const messages = [...turns(10, 10), user(2_500), assistant(2_500), user(2_500), assistant(2_600)];
    const id = await service.session(messages, { compactCount: 50 });

    expect((await service.compact(id)).body.newSize).toBe(12);
  });

  it('takes in the message that crosses the line, and none after one that reaches it exactly', async () => {
    const { service } = await startWithModel();
    const id = await service.session(turns(10, 100));
    const sizes = [];
    for (const compactCount of [1, 10, 10.1, 49.9, 50, 50.1, 90, 90.1, 99]) {
      sizes.push((await service.compact(id, { compactCount, dryRun: true })).body.newSize);
    }
    expect(sizes).toEqual([1, 1, 2, 5, 5, 6, 9, 10, 10]);
  });

  it('counts the arguments of tool calls, and quotes them', async () => {
    const { service, stub } = await startWithModel();
    const args = JSON.stringify({ path: 'timetable.csv', content: 'departs 18:30 '.repeat(300) }).slice(
      0,
      4_000,
    );
    const messages = [
      ...turns(4, 100),
      user(100),
      callOf('c1', 'write_file', args),
      result('c1', 100),
      assistant(100),
      ...turns(2, 100),
    ];
    const id = await service.session(messages, { compactCount: 50 });

    expect((await service.compact(id)).body.newSize).toBe(7);
    expect(quoted(stub.prompts[0], 'transcript')).toContain(
      `\n\n${transcriptOf(['assistant calls write_file', args])}\n\n`,
    );
  });

  it('counts the name of every call, and a refusal', async () => {
    const { service } = await startWithModel();
    const refused = { role: 'assistant' as const, content: null, refusal: text(30) };
    const messages = [
      user(10),
      calls(['a', 'b', 'c']),
      ...['a', 'b', 'c'].map((id) => result(id, 2)),
      refused,
    ];
    const id = await service.session(messages);
    const { body } = await service.call('GET', `/sessions/${id}/messages`);

    expect(body.data.map(({ chars }) => chars)).toEqual([10, 24, 2, 2, 2, 30]);
    // 70 chars: 40 % is 28, inside the group; 57 % is 39, and 58 % is 40, where the group ends.
    const sizes = [];
    for (const compactCount of [14, 15, 57, 58, 59]) {
      sizes.push((await service.compact(id, { compactCount, dryRun: true })).body.newSize);
    }
    expect(sizes).toEqual([1, 1, 5, 5, 6]);
  });
});

describe('compacting again and again', () => {
  it('advances with every call until all is folded, and then says so without a model call', async () => {
    const { service, stub } = await startWithModel();
    const id = await service.session(turns(20, 100), { compactCount: 50 });

    expect(await sizesUntilDone(service, id)).toEqual({ sizes: [10, 16, 19, 20], reason: 'nothing_new' });
    expect(stub.prompts).toHaveLength(4);
    expect(await sessionOf(service, id)).toMatchObject({ compact_summary: 'S4', compact_size: 20 });
  });

  it('counts the summary in the share: a long one makes the next step larger', async () => {
    const { service } = await startWithModel(() => ({ content: text(500) }));
    const id = await service.session(turns(20, 100), { compactCount: 50 });

    // 1,000 of 2,000; then 750 of 500 + 1,000; then 375 of 500 + 200, which is all there is.
    expect(await sizesUntilDone(service, id)).toEqual({ sizes: [10, 18, 20], reason: 'nothing_new' });
  });

  it('folds each message once', async () => {
    const { service, stub } = await startWithModel();
    const messages = turns(20, 100);
    const id = await service.session(messages, { compactCount: 50 });
    await sizesUntilDone(service, id);

    const told = stub.prompts.map((prompt) => quoted(prompt, 'transcript')).join('\n\n');
    expect(told).toBe(transcriptOf(...messages.map(({ role, content }) => [role, content] as const)));
    expect(stub.prompts.map((prompt) => quoted(prompt, 'summary'))).toEqual([null, 'S1', 'S2', 'S3']);
  });

  it('finds work again when messages were appended', async () => {
    const { service } = await startWithModel();
    const id = await service.session(turns(2, 100), { compactCount: 99 });
    const sizes = [(await service.compact(id)).body.newSize];
    await append(service, id, user(100), assistant(100));
    sizes.push((await service.compact(id)).body.newSize);
    expect(sizes).toEqual([2, 4]);
  });
});
