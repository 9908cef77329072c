import { type FoundTask, hasActiveTick } from '../../db/repositories/tasks.js';
import { type DueAgent, dueAgents, lockTicks, takeDueTick } from '../../db/repositories/ticks.js';
import type { Db, Store } from '../../db/store.js';
import { AppError, fieldError } from '../../errors.js';
import type { Logger } from '../../logger.js';
import { findDefinition } from '../agent-service.js';
import { createTask } from './create-task.js';

const AT_ONCE = 50;

/**
 * Queues a tick of an agent: a task on a fresh session, of which one at a time is at work, in whatever process.
 *
 * @throws AppError AGENT_NOT_FOUND, VALIDATION_FAILED without a daemon, TICK_IN_PROGRESS
 */
export async function createTick(db: Db, tenant: string, name: string, nowMs: number): Promise<FoundTask> {
  await lockTicks(db, tenant, name);
  const agent = await findDefinition(db, tenant, name);
  if (agent === null) throw new AppError('AGENT_NOT_FOUND', `There is no agent ${name}`);
  if (agent.daemon === undefined) throw fieldError('path', '/name', 'is of an agent without a daemon');
  if (await hasActiveTick(db, tenant, name)) {
    throw new AppError('TICK_IN_PROGRESS', `A tick of ${name} is queued or running`);
  }
  const input = agent.daemon.prompt;
  return createTask(db, { tenant, agent, kind: 'tick', input, session: null }, nowMs);
}

/**
 * Queues the ticks that are due. Each is taken by the process that moves its schedule on; one that comes due while
 * another of its agent is at work is left out, and the next comes at its time.
 */
export async function beginDueTicks(store: Store, clock: () => number, logger: Logger): Promise<void> {
  for (const due of await dueAgents(store.read, AT_ONCE)) {
    const task = await store.tx((db) => takeTick(db, due, clock()));
    if (task !== null) logger.info({ agent: due.name, task: task.id }, 'a tick is due');
  }
}

async function takeTick(db: Db, due: DueAgent, nowMs: number): Promise<FoundTask | null> {
  const { tenant, name } = due;
  const seconds = (await findDefinition(db, tenant, name))?.daemon?.everySeconds;
  const taken = await takeDueTick(db, due, seconds === undefined ? null : seconds * 1_000);
  if (!taken || seconds === undefined || (await hasActiveTick(db, tenant, name))) return null;
  return createTick(db, tenant, name, nowMs);
}
