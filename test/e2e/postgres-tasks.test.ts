import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { claimTask } from '../../src/agents/tasks/claim-task.js';
import { findTask, findTaskByPk } from '../../src/db/repositories/tasks.js';
import { newTask, until } from '../agents/task-support.js';
import { startModelStub } from '../support/model-stub.js';
import { freshDatabase } from '../support/postgres.js';
import { modelAt, startService } from '../support/service.js';

async function startTwo(url: string) {
  const variables = modelAt(url, { MAIN_MODEL: 'stub-1', DATABASE_URL: await freshDatabase() });
  return [await startService(variables), await startService(variables)] as const;
}

describe('nodes on one database', () => {
  it('end a cancelled task that another one runs at once, and not at its next renewal', async () => {
    const stub = await startModelStub(() => ({ hang: true }));
    const [one, two] = await startTwo(stub.url);
    await one.agent('clerk');
    one.app.services.tasks.start();
    // That its news are heard is known once some have been.
    const heard: string[] = [];
    one.app.services.store.news.subscribe((text) => heard.push(text));
    while (heard.length === 0) {
      two.app.services.store.news.publish('nothing that a node knows');
      await sleep(20);
    }
    const id = await newTask(one, 'clerk', { input: 'hang' });
    while (stub.prompts.length === 0) await sleep(5);

    expect((await two.call('POST', `/tasks/${id}/cancel`)).status).toBe(200);

    // The lease of 30 s is renewed each 10 s.
    await stub.server.peerClosed(0, 5_000);
    const { pk = 0 } = (await findTask(one.app.services.store.read, 'default', id)) ?? {};
    expect(heard).toEqual(expect.arrayContaining([`task cancelled ${pk}`, `task changed ${pk}`, 'queue']));
  });

  it('take the next task when another node is about to take the oldest, and wait for it when it is the last', async () => {
    const stub = await startModelStub(() => ({ hang: true }));
    const [service, other] = await startTwo(stub.url);
    const { store, tasks } = service.app.services;
    await tasks.close();
    await service.agent('clerk');
    const oldest = await newTask(service, 'clerk', { input: '1' });
    const next = await newTask(service, 'clerk', { input: '2' });
    const { pk = 0 } = (await findTask(store.read, 'default', oldest)) ?? {};
    const claim = () => claimTask({ store, clock: Date.now, leaseMs: 30_000 });

    const last = await other.app.services.store.tx(async (db) => {
      await findTaskByPk(db, pk);
      expect((await claim())?.id).toBe(next);
      const waiting = { claimed: claim() };
      await sleep(100);
      return waiting;
    });

    expect((await last.claimed)?.id).toBe(oldest);
    expect(await claim()).toBe(null);
    await until(service, oldest, 'running');
  });
});
