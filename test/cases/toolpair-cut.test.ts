import { describe, expect, it } from 'vitest';
import { assistant, calls, result, user } from '../support/messages.js';
import { strictViolation } from '../support/strict.js';
import { append, callOf, quoted, startWithModel, stateOf, summaryOf, transcriptOf } from './expected.js';

describe('a cut between a tool call and its results', () => {
  it('moves past the only result, and the conversation goes on', async () => {
    const { service } = await startWithModel();
    const messages = [
      user(1_000),
      callOf('c1', 'get_hours', '{}', 'a'.repeat(1_000)),
      result('c1', 1_000),
      assistant(1_000),
      user(1_000),
      assistant(1_000),
    ];
    const id = await service.session(messages, { compactCount: 33 });

    expect((await service.compact(id)).body).toMatchObject({ compactedCount: 3, newSize: 3 });
    await append(service, id, user('next?'));

    const view = await service.view(id);
    expect(view).toEqual([summaryOf('S1'), ...messages.slice(3), user('next?')]);
    expect(strictViolation(view)).toBeNull();
    expect(await service.messages(id)).toEqual([...messages, user('next?')]);
  });

  it('moves past every result of parallel calls', async () => {
    const { service } = await startWithModel();
    const messages = [
      user(500),
      calls(['c1', 'c2']),
      result('c1', 3_000),
      result('c2', 1_500),
      assistant(500),
      user(500),
    ];
    const id = await service.session(messages, { compactCount: 50 });

    expect((await service.compact(id)).body.newSize).toBe(4);

    const view = await service.view(id);
    expect(view).toEqual([summaryOf('S1'), ...messages.slice(4)]);
    expect(strictViolation(view)).toBeNull();
  });

  it('stays before the call when it lands there, and the whole group is kept', async () => {
    const { service } = await startWithModel();
    const messages = [
      user(500),
      calls(['c1', 'c2']),
      result('c1', 3_000),
      result('c2', 1_500),
      assistant(500),
      user(500),
    ];
    const id = await service.session(messages, { compactCount: 8 });

    expect((await service.compact(id)).body.newSize).toBe(1);

    const view = await service.view(id);
    expect(view).toEqual([summaryOf('S1'), ...messages.slice(1)]);
    expect(strictViolation(view)).toBeNull();
  });

  it.each([20, 40, 60, 80])(
    'parts no results that came in another order than the calls, at %i %',
    async (percent) => {
      const { service, stub } = await startWithModel();
      const messages = [
        user(500),
        calls(['c1', 'c2', 'c3']),
        result('c3', 'third '.repeat(400).slice(0, 2_000)),
        result('c1', 'first '.repeat(400).slice(0, 2_000)),
        result('c2', 'second '.repeat(400).slice(0, 2_000)),
        assistant(500),
        user(500),
      ];
      const id = await service.session(messages, { compactCount: percent });

      expect((await service.compact(id)).body.newSize).toBe(5);

      expect(await service.view(id)).toEqual([summaryOf('S1'), ...messages.slice(5)]);
      expect(await service.messages(id)).toEqual(messages);
      expect(quoted(stub.prompts[0], 'transcript')).toBe(
        transcriptOf(
          ['user', messages[0]?.content],
          ...['c1', 'c2', 'c3'].map(() => ['assistant calls lookup', '{}'] as const),
          ...messages.slice(2, 5).map(({ content }) => ['result of lookup', content] as const),
        ),
      );
    },
  );

  it('keeps results in the order they came in the view', async () => {
    const { service } = await startWithModel();
    const messages = [
      user(500),
      calls(['c1', 'c2']),
      result('c2', 50),
      result('c1', 50),
      assistant(50),
      user(9),
    ];
    const id = await service.session(messages, { compactCount: 70 });

    expect((await service.compact(id)).body.newSize).toBe(1);
    expect(await service.view(id)).toEqual([summaryOf('S1'), ...messages.slice(1)]);
  });

  it('is found by position when one id is used for every call', async () => {
    const { service } = await startWithModel();
    const round = [user(100), calls(['call_0']), result('call_0', 92)];
    const messages = [...round, ...round, ...round, user(400)];
    const id = await service.session(messages);

    // 1,000 chars in all: 15 % ends inside the first round's group, 35 % and 55 % inside the later ones.
    const sizes = [];
    for (const compactCount of [15, 35, 45, 55, 61]) {
      sizes.push((await service.compact(id, { compactCount, dryRun: true })).body.newSize);
    }
    expect(sizes).toEqual([3, 6, 7, 9, 10]);
  });

  it('is avoided as well when every message was appended by itself', async () => {
    const { service } = await startWithModel();
    const id = await service.session([user(100)], { compactCount: 60 });
    const group = [calls(['c1', 'c2', 'c3']), result('c1', 200), result('c2', 200), result('c3', 200)];
    for (const message of group.slice(0, 3)) await append(service, id, message);
    const note = { role: 'system' as const, content: 'The pier is closed.' };
    await append(service, id, note, ...group.slice(3));
    await append(service, id, assistant(10), user(10));

    // 744 chars: 60 % is 446, with the second result.
    expect((await service.compact(id)).body.newSize).toBe(5);
    expect(await service.view(id)).toEqual([note, summaryOf('S1'), assistant(10), user(10)]);
  });

  it('overlooks system messages between a call and its result', async () => {
    const { service } = await startWithModel();
    const note = { role: 'system' as const, content: 'The pier is closed. '.repeat(20) };
    const messages = [user(100), calls(['c1']), note, result('c1', 100), assistant(100), user(100)];
    const id = await service.session(messages, { compactCount: 26 });

    expect((await service.compact(id)).body.newSize).toBe(3);

    const view = await service.view(id);
    expect(view).toEqual([note, summaryOf('S1'), ...messages.slice(4)]);
    expect(strictViolation(view)).toBeNull();
  });

  it('is never found at a boundary, whatever the percent', async () => {
    const { service } = await startWithModel();
    const messages = [
      user(40),
      calls(['a'], 30),
      result('a', 60),
      calls(['b', 'c']),
      result('c', 10),
      result('b', 70),
      assistant(20),
      user(30),
    ];
    const id = await service.session(messages);
    const before = await stateOf(service, id);
    const sizes = new Set<number>();
    for (let compactCount = 1; compactCount <= 99; compactCount += 1) {
      sizes.add((await service.compact(id, { compactCount, dryRun: true })).body.newSize);
    }
    expect([...sizes]).toEqual([1, 3, 6, 7, 8]);
    expect(await stateOf(service, id)).toEqual(before);
  });
});
