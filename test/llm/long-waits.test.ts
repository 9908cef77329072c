import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { rawStreamHead } from '../support/raw-server.js';
import { ask, clientFor, completed, delta, events, finish, serve } from './harness.js';

/**
 * Waits of minutes, on a clock that the test moves. undici has limits of 300 s of its own, on headers and between
 * chunks; with one of them left on, slow local servers would fail exactly then.
 */
const PATIENCE = { firstByteTimeoutMs: 900_000, silenceTimeoutMs: 900_000, totalTimeoutMs: 3_600_000 };

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval'] });
});
afterEach(() => {
  vi.useRealTimers();
});

/** Lets what is on its way through the sockets arrive; real time, since only the timers are stopped. */
async function settled(): Promise<void> {
  const end = performance.now() + 60;
  while (performance.now() < end) await new Promise((resolve) => setImmediate(resolve));
}

test('seven minutes until the answer begins, and seven more in the middle of it', async () => {
  const writes: (() => void)[] = [];
  const server = await serve(async (connection) => {
    const steps = [rawStreamHead() + events(delta('Hel')), events(delta('lo'), finish(), '[DONE]')];
    for (const step of steps) {
      await new Promise<void>((resolve) => writes.push(resolve));
      connection.write(step);
    }
    connection.end();
  });
  const call = ask(clientFor(server.url, PATIENCE));
  for (let step = 0; step < 2; step += 1) {
    await settled();
    expect(writes).toHaveLength(step + 1);
    await vi.advanceTimersByTimeAsync(420_000);
    await settled();
    writes[step]?.();
  }
  expect(await call).toMatchObject({ outcome: completed('Hello'), requests: 1 });
});

test('our own limits are on that clock too', async () => {
  const server = await serve((connection) => connection.closed);
  const call = ask(clientFor(server.url, PATIENCE));
  await settled();
  await vi.advanceTimersByTimeAsync(900_000);
  expect(await call).toMatchObject({ outcome: { kind: 'timeout', clock: 'first_byte' }, requests: 1 });
});
