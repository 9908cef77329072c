import type { TaskEvent } from '../../db/repositories/task-events.js';
import {
  type FoundTask,
  findTask,
  findTaskByPk,
  listTasks,
  type TaskFilter,
} from '../../db/repositories/tasks.js';
import { endOpenTurn, leaveTurn } from '../../db/repositories/turn-leases.js';
import type { Db, Store } from '../../db/store.js';
import { AppError } from '../../errors.js';
import { type Answered, answerOnce } from '../../idempotency/answer-once.js';
import type { KeyedRequest, StoredAnswer } from '../../idempotency/claims.js';
import { findDefinition } from '../agent-service.js';
import type { TurnContent, TurnInput } from '../turn/input.js';
import { sessionOf } from '../turn/open-turn.js';
import type { TurnRunner } from '../turn/runner.js';
import { createTask } from './create-task.js';
import { followTask } from './follow-task.js';
import { moveTask } from './move-task.js';
import { resumeTask } from './resume-task.js';
import { isOver } from './states.js';
import type { TaskNews } from './task-news.js';
import type { TaskRunner } from './task-runner.js';
import type { TaskSignals } from './task-signals.js';
import { createTick } from './ticks.js';

interface Parts {
  readonly store: Store;
  /** Ms since the epoch. */
  readonly clock: () => number;
  readonly turns: TurnRunner;
  readonly tasks: TaskRunner;
  readonly signals: TaskSignals;
  readonly news: TaskNews;
}

/** A request that is answered with a task, once for each key. */
export interface TaskRequest {
  readonly tenant: string;
  readonly key: KeyedRequest | null;
  readonly answer: (task: FoundTask) => StoredAnswer;
}

/** What clients do with tasks. Each method is one transaction: all of it, or nothing. The work comes after. */
export class TaskService {
  readonly #parts: Parts;
  readonly #closed = new AbortController();

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  /** @param sessionId null begins a new session */
  create(
    request: TaskRequest,
    agentName: string,
    { input, sessionId }: { readonly input: TurnContent; readonly sessionId: string | null },
  ): Promise<Answered> {
    const { tenant } = request;
    return this.#queueing(request, async (db, nowMs) => {
      const agent = await findDefinition(db, tenant, agentName);
      if (agent === null) throw new AppError('AGENT_NOT_FOUND', `There is no agent ${agentName}`);
      const session = sessionId === null ? null : await sessionOf(db, tenant, sessionId);
      if (session?.status === 'closed')
        throw new AppError('SESSION_CLOSED', `Session ${session.id} is closed`);
      return createTask(db, { tenant, agent, kind: 'task', input, session }, nowMs);
    });
  }

  createTick(request: TaskRequest, agentName: string): Promise<Answered> {
    return this.#queueing(request, (db, nowMs) => createTick(db, request.tenant, agentName, nowMs));
  }

  resume(request: TaskRequest, id: string, input: TurnInput): Promise<Answered> {
    return this.#queueing(request, async (db, nowMs) =>
      resumeTask(db, found(await findTask(db, request.tenant, id), id), input, nowMs),
    );
  }

  async #queueing(
    { key, answer }: TaskRequest,
    effect: (db: Db, nowMs: number) => Promise<FoundTask>,
  ): Promise<Answered> {
    const { store, clock, turns, tasks, signals, news } = this.#parts;
    const queued: { pk: number | null } = { pk: null };
    const answered = await store.tx((db) => {
      const nowMs = clock();
      return answerOnce(db, key, nowMs, async () => {
        const task = await effect(db, nowMs);
        turns.requireModel();
        queued.pk = task.pk;
        return answer(task);
      });
    });
    if (queued.pk !== null) {
      signals.nudge(queued.pk);
      news.queued();
    }
    tasks.kick();
    return answered;
  }

  async get(tenant: string, id: string): Promise<FoundTask> {
    return found(await findTask(this.#parts.store.read, tenant, id), id);
  }

  list(filter: TaskFilter, beforePk: number | null, limit: number): Promise<FoundTask[]> {
    return listTasks(this.#parts.store.read, filter, beforePk, limit);
  }

  /**
   * Ends a task for good; a run at work stops, and its session is free at once. Does nothing to a cancelled one.
   *
   * @throws AppError TASK_NOT_FOUND, TASK_FINISHED
   */
  async cancel(tenant: string, id: string): Promise<FoundTask> {
    const { store, clock, tasks, signals, news } = this.#parts;
    const task = await store.tx(async (db) => {
      const before = found(await findTask(db, tenant, id), id);
      if (before.status === 'cancelled') return before;
      if (isOver(before)) throw new AppError('TASK_FINISHED', `The task is ${before.status}`);
      const { session_pk, owner, turn_position } = before;
      // From here on everything that its run writes is refused.
      if (owner !== null) await leaveTurn(db, session_pk, owner, null);
      else if (turn_position !== null) await endOpenTurn(db, session_pk, turn_position);
      const change = { resume_input: null, wait_position: null, wait_calls: null };
      await moveTask(db, before, { to: 'cancelled', change }, clock());
      return found(await findTaskByPk(db, before.pk), id);
    });
    tasks.cancelled(task.pk);
    news.cancelled(task.pk);
    signals.nudge(task.pk);
    news.queued();
    tasks.kick();
    return task;
  }

  /** See `followTask`. Ends early when the service closes. */
  follow(task: FoundTask, after: number, signal: AbortSignal): AsyncGenerator<TaskEvent> {
    const { store, signals } = this.#parts;
    return followTask(store, signals, task.pk, after, AbortSignal.any([signal, this.#closed.signal]));
  }

  /** Begins to look at the queue and the schedule. */
  start(): void {
    this.#parts.tasks.start();
  }

  /** Running tasks are interrupted, and those who follow tasks are let go. */
  async close(): Promise<void> {
    this.#closed.abort();
    await this.#parts.tasks.close();
  }
}

function found(task: FoundTask | null, id: string): FoundTask {
  if (task === null) throw new AppError('TASK_NOT_FOUND', `There is no task ${id}`);
  return task;
}
