import { describe, expect, it } from 'vitest';
import { assistant, calls, result, turns, user } from '../support/messages.js';
import { strictViolation } from '../support/strict.js';
import { ACKNOWLEDGED, quoted, startWithModel, stateOf, summaryOf } from './expected.js';

describe('keeping the newest messages out of a compaction', () => {
  const messages = turns(10, 100);

  it('keeps as many as were asked for', async () => {
    const { service } = await startWithModel();
    const id = await service.session(messages, { compactCount: 80 });

    expect((await service.compact(id, { keepRecent: 4 })).body.newSize).toBe(6);
    expect(await service.view(id)).toEqual([summaryOf('S1'), ACKNOWLEDGED, ...messages.slice(6)]);
  });

  it('leaves nothing to do when more are kept than there are, without a model call', async () => {
    const { service, stub } = await startWithModel();
    const id = await service.session(messages, { compactCount: 80 });
    const before = await stateOf(service, id);

    for (const keepRecent of [10, 20, 1_000_000]) {
      expect((await service.compact(id, { keepRecent })).body).toMatchObject({
        compactedCount: 0,
        newSize: 0,
        alreadyUpToDate: true,
        reason: 'kept_recent',
      });
    }
    expect(stub.prompts).toEqual([]);
    expect(await stateOf(service, id)).toEqual(before);
  });

  it('keeps one more rather than part a call from its result', async () => {
    const { service } = await startWithModel();
    const grouped = [...messages.slice(0, 5), calls(['c1'], 92), result('c1', 100), ...messages.slice(7)];
    const id = await service.session(grouped, { compactCount: 80 });

    expect((await service.compact(id, { keepRecent: 4 })).body.newSize).toBe(5);

    const view = await service.view(id);
    expect(view).toEqual([summaryOf('S1'), ...grouped.slice(5)]);
    expect(view).toHaveLength(6);
  });

  it('gives up when the group that would be parted is all there is', async () => {
    const { service } = await startWithModel();
    const id = await service.session([calls(['c1', 'c2'], 500), result('c1', 500), result('c2', 500)]);
    expect((await service.compact(id, { keepRecent: 1 })).body.reason).toBe('kept_recent');
    expect((await service.compact(id)).body.newSize).toBe(3);
  });

  it('moves no cut that keeps enough anyway', async () => {
    const { service } = await startWithModel();
    const id = await service.session(messages, { compactCount: 80 });
    const sizes = [];
    for (const keepRecent of [0, 1, 2, 3, 9]) {
      sizes.push((await service.compact(id, { keepRecent, dryRun: true })).body.newSize);
    }
    expect(sizes).toEqual([8, 8, 8, 7, 1]);
  });

  it('keeps the newest question out of the summary, and asks it once', async () => {
    const { service, stub } = await startWithModel();
    const id = await service.session([user(100), assistant(100), user('Is berth ZX-41 free?')], {
      compactCount: 99,
    });

    expect((await service.compact(id, { keepRecent: 1 })).body.newSize).toBe(2);

    const view = await service.view(id);
    expect(JSON.stringify(view).match(/ZX-41/g)).toHaveLength(1);
    expect(stub.prompts[0]).not.toContain('ZX-41');
    expect(strictViolation(view)).toBeNull();
  });

  it('holds for one call', async () => {
    const { service } = await startWithModel();
    const id = await service.session(messages, { compactCount: 99 });
    await service.compact(id, { keepRecent: 4 });
    expect((await service.compact(id)).body.newSize).toBe(10);
  });

  it('counts open messages only, and never system messages', async () => {
    const { service, stub } = await startWithModel();
    const note = { role: 'system' as const, content: 'Winter timetable.' };
    const id = await service.session([...messages, note], { compactCount: 50 });
    await service.compact(id);

    expect((await service.compact(id, { compactCount: 99, keepRecent: 5 })).body.reason).toBe('kept_recent');
    expect((await service.compact(id, { compactCount: 99, keepRecent: 4 })).body.newSize).toBe(6);
    expect(quoted(stub.prompts[1], 'transcript')).toBe(`[assistant]\n${messages[5]?.content}`);
  });
});
