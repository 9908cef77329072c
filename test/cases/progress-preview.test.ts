import { describe, expect, it } from 'vitest';
import { text, turns, user } from '../support/messages.js';
import { startService } from '../support/service.js';
import { startWithModel, stateOf } from './expected.js';

describe('a dry run', () => {
  it('says what would be folded, asks no model, changes nothing, and the real run folds just that', async () => {
    const { service, stub } = await startWithModel();
    const id = await service.session(turns(10, 100));
    const before = await stateOf(service, id);

    const { status, body } = await service.compact(id, { dryRun: true });

    expect(status).toBe(200);
    // At most: the five open messages and a summary of 2,000 chars, which a small session may always have.
    expect(body).toEqual({
      sessionId: id,
      compactedCount: 5,
      newSize: 5,
      alreadyUpToDate: false,
      dryRun: true,
      charsBefore: 1_000,
      charsFolded: 500,
      charsAfterAtMost: 2_500,
      session: before.session,
      compaction: null,
    });
    expect(stub.prompts).toEqual([]);
    expect(await stateOf(service, id)).toEqual(before);

    const { body: real } = await service.compact(id);
    expect(real).toMatchObject({ compactedCount: 5, newSize: 5 });
    expect(real.compaction).toMatchObject({
      from_size: 0,
      to_size: 5,
      chars_before: 1_000,
      chars_after: 502,
    });
    expect(stub.prompts).toHaveLength(1);
  });

  it('goes on from the summary there is, with the options of the real run', async () => {
    const { service } = await startWithModel(() => ({ content: text(300) }));
    const id = await service.session(turns(30, 1_000));
    await service.compact(id, { compactCount: 40 });

    // 18,300 chars are open: 25 % is 4,575, five messages; the summary replaces 5,300.
    const previews = [];
    for (const options of [{ compactCount: 25 }, { compactCount: 25, keepRecent: 15 }]) {
      const { body } = await service.compact(id, { ...options, dryRun: true });
      const { compactedCount, newSize, charsBefore, charsFolded, charsAfterAtMost } = body;
      previews.push([compactedCount, newSize, charsBefore, charsFolded, charsAfterAtMost]);
    }
    expect(previews).toEqual([
      [5, 17, 18_300, 5_000, 13_000 + 5_300],
      [3, 15, 18_300, 3_000, 15_000 + 3_300],
    ]);
    const { body } = await service.compact(id, { compactCount: 25, keepRecent: 15 });
    expect(body.compaction).toMatchObject({ from_size: 12, to_size: 15, chars_after: 15_300 });
  });

  it('says so when there is nothing to do', async () => {
    const { service } = await startWithModel();
    const id = await service.session([user('')]);
    expect((await service.compact(id, { dryRun: true })).body).toMatchObject({
      dryRun: true,
      alreadyUpToDate: true,
      compactedCount: 0,
      newSize: 0,
      reason: 'empty_text',
    });
  });

  it('needs no model at all', async () => {
    const service = await startService();
    const id = await service.session(turns(4, 100));
    expect((await service.compact(id, { dryRun: true })).body).toMatchObject({
      newSize: 2,
      compaction: null,
    });
  });
});
