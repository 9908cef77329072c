import { describe, expect, it } from 'vitest';
import { turns } from '../support/messages.js';
import { modelAt, startService } from '../support/service.js';
import { compactionsOf, gate, requestsAt, startWithModel, stateOf } from './session-state.js';

describe('of two compactions of one session at once', () => {
  it.each([
    { where: 'in one service', second: false },
    { where: 'in two services on one file', second: true },
  ])('one works and the other is told to wait: $where', async ({ second }) => {
    const { service, stub } = await startWithModel({ content: 'S1', delayMs: 300 });
    const other = second ? await startService(modelAt(stub.url), service.file) : service;
    const id = await service.session(turns(10, 100));

    const answers = await Promise.all([service.compact(id), other.compact(id)]);

    expect(answers.map(({ status }) => status).sort()).toEqual([200, 409]);
    expect(stub.server.requests.length).toBe(1);
    const done = answers.find(({ status }) => status === 200);
    expect(done?.body).toMatchObject({ compactedCount: 5, newSize: 5 });
    const refused = answers.find(({ status }) => status === 409);
    expect(refused?.body).toMatchObject({ code: 'COMPACTION_IN_PROGRESS', retryable: true });
    const wait = Number(refused?.headers['retry-after']);
    expect(wait).toBeGreaterThanOrEqual(1);
    expect(wait).toBeLessThanOrEqual(30);
    for (const from of [service, other]) {
      expect((await from.call('GET', `/sessions/${id}`)).body).toMatchObject({
        compact_summary: 'S1',
        compact_size: 5,
        message_count: 10,
        revision: 1,
      });
    }
    expect((await compactionsOf(service, id)).map(({ outcome }) => outcome)).toEqual(['completed']);
    expect((await other.compact(id)).body).toMatchObject({ compactedCount: 3, newSize: 8 });
  });

  it('only one works when 20 are asked for', async () => {
    const { service, stub } = await startWithModel({ content: 'S1', delayMs: 200 });
    const id = await service.session(turns(10, 100));
    const answers = await Promise.all(Array.from({ length: 20 }, () => service.compact(id)));
    expect(answers.filter(({ status }) => status === 200).length).toBe(1);
    expect(answers.filter(({ body }) => body.code === 'COMPACTION_IN_PROGRESS').length).toBe(19);
    expect(stub.server.requests.length).toBe(1);
    expect(await compactionsOf(service, id)).toHaveLength(1);
  });
});

describe('while a session is compacted', () => {
  it('a preview and a call with nothing to fold are answered', async () => {
    const door = gate();
    const { service, stub } = await startWithModel(async () => {
      await door.opened;
      return { content: 'S1' };
    });
    const id = await service.session(turns(10, 100));
    const working = service.compact(id);
    await requestsAt(stub, 1);

    const preview = await service.compact(id, { dryRun: true });
    const nothing = await service.compact(id, { keepRecent: 10 });

    expect(preview.status).toBe(200);
    expect(preview.body).toMatchObject({ dryRun: true, newSize: 5, compactedCount: 5, compaction: null });
    expect(nothing.status).toBe(200);
    expect(nothing.body).toMatchObject({ alreadyUpToDate: true, reason: 'kept_recent', newSize: 0 });
    expect((await compactionsOf(service, id)).map(({ outcome }) => outcome)).toEqual(['running']);
    door.open();
    expect((await working).status).toBe(200);
    expect(stub.server.requests.length).toBe(1);
  });

  it.each([
    { name: 'its summary is corrected', change: "compact_summary = 'corrected', compact_size = 2" },
    { name: 'its history is cut', change: 'message_count = 3, conversation_count = 3, total_chars = 300' },
  ])('its writing is void when $name by another program that keeps the rules', async ({ change }) => {
    const door = gate();
    const { service, stub } = await startWithModel(async () => {
      await door.opened;
      return { content: 'S1' };
    });
    const id = await service.session(turns(10, 100));
    const working = service.compact(id);
    await requestsAt(stub, 1);
    service.sql(`UPDATE sessions SET revision = revision + 1, ${change} WHERE id = ?`, id);
    const changed = stateOf(service, id);
    door.open();
    const { status, body } = await working;
    expect({ status, code: body.code }).toEqual({ status: 409, code: 'SESSION_CHANGED' });
    expect(stateOf(service, id)).toEqual(changed);
    expect(await compactionsOf(service, id)).toMatchObject([
      { outcome: 'failed', to_size: 0, usage: { input_tokens: 100, output_tokens: 10 } },
    ]);
    expect((await service.compact(id)).status).toBe(200);
  });

  it('others are compacted at the same time', async () => {
    const door = gate();
    const { service, stub } = await startWithModel(async () => {
      await door.opened;
      return { content: 'S1' };
    });
    const ids = await Promise.all(Array.from({ length: 4 }, () => service.session(turns(10, 100))));
    const working = ids.map((id) => service.compact(id));
    await requestsAt(stub, 4);
    door.open();
    expect((await Promise.all(working)).map(({ status }) => status)).toEqual([200, 200, 200, 200]);
  });
});

describe('messages appended at the same time', () => {
  it.each([
    { where: 'to one service', second: false },
    { where: 'to two services on one file', second: true },
  ])('are numbered without a gap, none is lost: 50 appends $where', async ({ second }) => {
    const { service, stub } = await startWithModel({ content: 'S1' });
    const other = second ? await startService(modelAt(stub.url), service.file) : service;
    const id = await service.session([]);

    const answers = await Promise.all(
      Array.from({ length: 50 }, (_, i) =>
        (i % 2 === 0 ? service : other).call('POST', `/sessions/${id}/messages`, {
          messages: [
            { role: 'user', content: `first of ${i}` },
            { role: 'system', content: `rule of ${i}` },
            { role: 'assistant', content: `last of ${i}` },
          ],
        }),
      ),
    );

    expect(answers.filter(({ status }) => status !== 201)).toEqual([]);
    const numbers = answers.map(({ body }) => body.data.map(({ seq }) => seq));
    for (const [first = 0, ...rest] of numbers) expect(rest).toEqual([first + 1, first + 2]);
    expect(numbers.flat().sort((a, b) => a - b)).toEqual(Array.from({ length: 150 }, (_, i) => i));
    const stored = await service.messages(id);
    for (const [i, [first = 0]] of numbers.entries()) {
      expect(stored.slice(first, first + 3).map(({ content }) => content)).toEqual([
        `first of ${i}`,
        `rule of ${i}`,
        `last of ${i}`,
      ]);
    }
    expect((await other.call('GET', `/sessions/${id}`)).body.message_count).toBe(150);
    const positions = service.sql('SELECT position FROM messages WHERE position IS NOT NULL ORDER BY seq');
    expect(positions).toEqual(Array.from({ length: 100 }, (_, position) => ({ position })));
  });
});
