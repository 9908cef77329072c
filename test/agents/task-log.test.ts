import { pino } from 'pino';
import { describe, expect, it, vi } from 'vitest';
import { claimTask } from '../../src/agents/tasks/claim-task.js';
import { whyNotOwn } from '../../src/agents/tasks/own-task.js';
import { TaskLog } from '../../src/agents/tasks/task-log.js';
import { findTaskByPk } from '../../src/db/repositories/tasks.js';
import type { Store } from '../../src/db/store.js';
import { modelAt, startService } from '../support/service.js';
import { newTask } from './task-support.js';

type Transactions = Pick<Store, 'tx'>;

/** Undoes each transaction once, and runs it again: as where two wait for each other. */
const runningTwice = (store: Store): Transactions => ({
  tx: async (fn) => {
    const undone = store.tx(async (db) => {
      await fn(db);
      throw new RangeError('undone');
    });
    await expect(undone).rejects.toThrow(new RangeError('undone'));
    return store.tx(fn);
  },
});

/** Commits, but the answer is lost. */
const losingAnswers = (store: Store): Transactions => ({
  tx: async (fn) => {
    await store.tx(fn);
    throw new RangeError('lost');
  },
});

const unreachable: Transactions = { tx: () => Promise.reject(new RangeError('gone')) };

const called = (id: string) =>
  ({ type: 'tool-called', data: { id, name: 'n', arguments: '{}', by: 'subagent' } }) as const;
const storedAs = (id: string, seq: number) => ({
  seq,
  type: 'tool-called',
  data: JSON.stringify(called(id).data),
});

/** A task that was claimed and is run by nobody. */
async function claimedTask() {
  const service = await startService(modelAt('http://127.0.0.1:9', { MAIN_MODEL: 'stub-1' }));
  const { store, tasks } = service.app.services;
  await tasks.close();
  await service.agent('clerk');
  await newTask(service, 'clerk', { input: 'Go.' });
  const claimed = await claimTask({ store, clock: Date.now, leaseMs: 30_000 });
  if (claimed === null) throw new Error('there is no task');
  const events = () => service.sql('SELECT seq, type, data FROM task_events WHERE seq > 1 ORDER BY seq');
  const logOn = (transactions: Transactions, onStored = () => {}) => {
    const parts = { store: transactions, clock: Date.now, logger: pino({ level: 'silent' }), onStored };
    return new TaskLog(parts, { ...claimed, owner: claimed.turn.owner });
  };
  const end = (log: TaskLog, transactions: Transactions) =>
    transactions.tx(async (db) => {
      const task = await findTaskByPk(db, claimed.pk);
      if (task === null) throw await whyNotOwn(db, claimed.pk);
      await log.end(db, task, null);
    });
  return { store, events, logOn, end };
}

describe('the log of a task', () => {
  it('stores each event once where transactions are undone and run again', async () => {
    const { store, events, logOn, end } = await claimedTask();
    const onStored = vi.fn();
    const log = logOn(runningTwice(store), onStored);
    log.push(called('a'));
    log.push(called('b'));
    await vi.waitFor(() => expect(onStored).toHaveBeenCalledTimes(1));
    log.push(called('c'));
    await end(log, runningTwice(store));
    expect(events()).toEqual([storedAs('a', 2), storedAs('b', 3), storedAs('c', 4)]);
  });

  it('stores none twice when a commit is not answered', async () => {
    const { store, events, logOn, end } = await claimedTask();
    const log = logOn(losingAnswers(store));
    log.push(called('a'));
    await vi.waitFor(() => expect(events()).toEqual([storedAs('a', 2)]));
    log.push(called('b'));
    await end(log, store);
    expect(events()).toEqual([storedAs('a', 2), storedAs('b', 3)]);
  });

  it('leaves none out when the store cannot be reached meanwhile, nor when the end is undone', async () => {
    const { store, events, logOn, end } = await claimedTask();
    const log = logOn(unreachable);
    log.push(called('a'));
    log.push(called('b'));
    await end(log, runningTwice(store));
    expect(events()).toEqual([storedAs('a', 2), storedAs('b', 3)]);
  });

  it('stores all in order, whichever of its transactions comes first', async () => {
    const { store, events, logOn, end } = await claimedTask();
    const log = logOn(store);
    for (const id of ['a', 'b', 'c']) {
      log.push(called(id));
      await Promise.resolve();
    }
    await end(log, store);
    expect(events()).toEqual([storedAs('a', 2), storedAs('b', 3), storedAs('c', 4)]);
  });
});
