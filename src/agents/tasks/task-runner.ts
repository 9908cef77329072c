import type { LeaseTimes } from '../../compaction/lease-keeper.js';
import { RunningWork } from '../../compaction/running-work.js';
import type { Store } from '../../db/store.js';
import { AppError } from '../../errors.js';
import type { Logger } from '../../logger.js';
import type { Subagents } from '../subagents.js';
import type { TurnRunner } from '../turn/runner.js';
import { type ClaimedTask, claimTask } from './claim-task.js';
import { interruptExpired } from './interrupt.js';
import { taskCancelled } from './own-task.js';
import { TaskLog } from './task-log.js';
import type { TaskNews } from './task-news.js';
import { taskRun } from './task-run.js';
import type { TaskSignals } from './task-signals.js';
import { beginDueTicks } from './ticks.js';

export interface TaskRunnerSettings {
  /** Tasks that run at once in this process. */
  readonly concurrency: number;
  /** How often the queue, the leases and the schedule are looked at, in ms. */
  readonly pollMs: number;
}

export const TASK_DEFAULTS: TaskRunnerSettings = { concurrency: 8, pollMs: 1_000 };

export interface TaskRunnerParts {
  readonly store: Store;
  /** Ms since the epoch. */
  readonly clock: () => number;
  readonly runner: TurnRunner;
  readonly subagents: Subagents;
  readonly signals: TaskSignals;
  readonly news: TaskNews;
  readonly lease: LeaseTimes;
  readonly settings: TaskRunnerSettings;
  /** Whether a model is configured: without one the queue is left to other processes. */
  readonly enabled: boolean;
  readonly logger: Logger;
}

/**
 * Runs queued tasks, as many at once as it may. Every process has one; what they share is the database, in which each
 * task is claimed by one of them. Beside the queue it looks after tasks whose process died, and after the schedule.
 */
export class TaskRunner {
  readonly #parts: TaskRunnerParts;
  readonly #work = new RunningWork();
  readonly #running = new Map<number, AbortController>();
  readonly #stop = new AbortController();
  #round: Promise<void> = Promise.resolve();
  #rounds = 0;
  #timer: NodeJS.Timeout | null = null;
  #unsubscribe: (() => void) | null = null;

  constructor(parts: TaskRunnerParts) {
    this.#parts = parts;
  }

  /** Begins to look at the queue by itself, which `kick` alone does not, and to hear of other processes. */
  start(): void {
    const { news, signals } = this.#parts;
    this.#unsubscribe ??= news.listen({
      changed: (taskPk) => signals.wake(taskPk),
      cancelled: (taskPk) => this.cancelled(taskPk),
      queued: () => this.kick(),
    });
    this.#timer ??= setInterval(() => void this.#poll(), this.#parts.settings.pollMs).unref();
    void this.#poll();
  }

  /** Something may have come into the queue, or become free. */
  kick(): void {
    // One round that is at work may have passed what is new; one after it has not.
    if (this.#stop.signal.aborted || this.#rounds > 1) return;
    this.#rounds += 1;
    this.#round = this.#round
      .then(() => this.#claimAll())
      .catch((error: unknown) => this.#parts.logger.error({ err: error }, 'a task could not be started'))
      .finally(() => {
        this.#rounds -= 1;
      });
  }

  /** Ends the run of a cancelled task, if it is here. */
  cancelled(taskPk: number): void {
    this.#running.get(taskPk)?.abort(taskCancelled());
  }

  /** Starts nothing more; what runs is interrupted, and its leases are given back. */
  async close(): Promise<void> {
    this.#stop.abort();
    if (this.#timer !== null) clearInterval(this.#timer);
    this.#unsubscribe?.();
    await this.#round;
    await this.#work.close(0);
  }

  async #poll(): Promise<void> {
    const { store, clock, signals, logger, enabled } = this.#parts;
    if (this.#stop.signal.aborted) return;
    try {
      for (const task of await interruptExpired(store, clock)) {
        logger.warn({ task: task.id }, 'a task was interrupted: its process stopped');
        signals.nudge(task.pk);
      }
      if (enabled) await beginDueTicks(store, clock, logger);
    } catch (error) {
      if (!this.#stop.signal.aborted) logger.error({ err: error }, 'tasks could not be looked after');
    }
    this.kick();
  }

  async #claimAll(): Promise<void> {
    const { store, clock, lease, settings, enabled } = this.#parts;
    while (enabled && !this.#stop.signal.aborted && this.#running.size < settings.concurrency) {
      const claimed = await claimTask({ store, clock, leaseMs: lease.leaseMs });
      if (claimed === null) return;
      void this.#run(claimed);
    }
  }

  async #run(claimed: ClaimedTask): Promise<void> {
    const { store, clock, runner, subagents, signals, lease, logger } = this.#parts;
    const { pk, id, kind, agent, turn } = claimed;
    const onStored = () => signals.nudge(pk);
    const log = new TaskLog({ store, clock, logger, onStored }, { ...claimed, owner: turn.owner });
    try {
      await this.#work.run(new AbortController().signal, async (controller) => {
        this.#running.set(pk, controller);
        signals.nudge(pk);
        // A tick has nobody to ask, and comes again: it does not try an endpoint that is down.
        const asked = kind === 'task';
        const origin = asked ? 'manual' : 'automatic';
        const equipment = await subagents.equip(agent, turn, { callerRunsTools: asked, origin, depth: 0 });
        const parts = { clock, leaseMs: lease.leaseMs };
        await runner.run(taskRun(parts, claimed, equipment, log), controller);
      });
    } catch (error) {
      // Stored with the task and logged by then, but for what came before the turn could run.
      if (!(error instanceof AppError)) logger.error({ err: error, task: id }, 'a task could not be run');
    }
    this.#running.delete(pk);
    signals.nudge(pk);
    this.kick();
  }
}
