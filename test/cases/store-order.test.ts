import { describe, expect, it, onTestFinished, vi } from 'vitest';
import type { ChatMessage } from '../../src/compaction/measure.js';
import { assistant, calls, result, user } from '../support/messages.js';
import { startService } from '../support/service.js';
import { startWithModel } from './session-state.js';

/** A batch with a tool round in it, its texts telling its number. */
const batch = (n: number): ChatMessage[] => [
  user(`U${n}`),
  calls([`a${n}`, `b${n}`]),
  result(`b${n}`, `B${n}`),
  result(`a${n}`, `A${n}`),
  assistant(`D${n}`),
];

/** The clock of the process, as `time` says; the real one again when the test is over. */
function setClock(time: () => number): void {
  const clock = vi.spyOn(Date, 'now').mockImplementation(time);
  onTestFinished(() => clock.mockRestore());
}

describe('the order of messages is the order of appends', () => {
  it.each([
    { name: 'stands still', steps: 0 },
    { name: 'stands still, then steps back', steps: 40 },
    { name: 'runs backwards', steps: 50 * 40 },
  ])('when the clock $name', async ({ steps }) => {
    const noon = 1_800_000_000_000;
    let now = noon;
    setClock(() => now);
    const service = await startService();
    const id = await service.session([]);
    const expected: ChatMessage[] = [];
    for (let n = 0; n < 50; n += 1) {
      if (n === 25) now = noon - 40;
      if (steps > 40) now -= 40;
      if (steps === 0) now = noon;
      expected.push(...batch(n));
      const { status } = await service.call('POST', `/sessions/${id}/messages`, { messages: batch(n) });
      expect(status).toBe(201);
    }

    expect(await service.messages(id)).toEqual(expected);
    expect(await service.view(id)).toEqual(expected);
    const backwards = await service.call('GET', `/sessions/${id}/messages?order=desc&limit=200`);
    expect(backwards.body.data.map(({ message }) => message)).toEqual(expected.slice(50).reverse());
    await service.close();
    const restarted = await startService({}, service.file);
    expect(await restarted.messages(id)).toEqual(expected);
    expect(await restarted.view(id)).toEqual(expected);
  });

  it('also in what the model reads', async () => {
    let now = 1_800_000_000_000;
    setClock(() => now);
    const { service, stub } = await startWithModel({ content: 'S1' });
    const id = await service.session([], { compactCount: 99 });
    for (let n = 0; n < 20; n += 1) {
      now -= n % 2 === 0 ? 0 : 40;
      await service.call('POST', `/sessions/${id}/messages`, { messages: batch(n) });
    }
    expect((await service.compact(id)).body.newSize).toBe(99);
    const read = [...(stub.prompts[0] ?? '').matchAll(/^[UBAD]\d+$/gm)].map(([text]) => text);
    const said = Array.from({ length: 20 }, (_, n) => [`U${n}`, `B${n}`, `A${n}`, `D${n}`]).flat();
    expect(read).toEqual(said.slice(0, -1));
  });

  it('also for sessions and their records, which are listed newest first', async () => {
    let now = 1_800_000_000_000;
    setClock(() => now);
    const service = await startService();
    for (let n = 0; n < 10; n += 1) {
      await service.session(batch(n), { id: `s${n}` });
      now -= n % 2 === 0 ? 0 : 40;
    }
    const { body } = await service.call('GET', '/sessions');
    expect(body.data.map((session) => session.id)).toEqual(Array.from({ length: 10 }, (_, n) => `s${9 - n}`));
  });

  it('and each of two batches sent at once is one run', async () => {
    setClock(() => 1_800_000_000_000);
    const service = await startService();
    const id = await service.session([]);
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, n) =>
        service.call('POST', `/sessions/${id}/messages`, { messages: batch(n) }),
      ),
    );
    const stored = await service.messages(id);
    expect(stored.length).toBe(100);
    for (const [n, { body }] of answers.entries()) {
      const first = body.data[0]?.seq ?? -1;
      expect(body.data.map(({ seq }) => seq)).toEqual([0, 1, 2, 3, 4].map((i) => first + i));
      expect(stored.slice(first, first + 5)).toEqual(batch(n));
    }
    const ids = service.sql('SELECT count(DISTINCT id) AS n FROM messages');
    expect(ids).toEqual([{ n: 100 }]);
  });
});
