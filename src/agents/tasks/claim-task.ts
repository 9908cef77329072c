import { findSessionByPk } from '../../db/repositories/sessions.js';
import { type FoundTask, findTaskByPk, findTaskUnlessTaken, renewTask } from '../../db/repositories/tasks.js';
import type { Db, Store } from '../../db/store.js';
import { AppError } from '../../errors.js';
import { newLeaseToken } from '../../ids.js';
import { findDefinition } from '../agent-service.js';
import type { AgentDefinition } from '../definition.js';
import type { OpenTurn } from '../turn/open-turn.js';
import { beginTask } from './begin-task.js';
import { moveTask } from './move-task.js';
import { mayBegin, nextTasks } from './next-task.js';

/** A task that is this process's to run now. */
export interface ClaimedTask {
  readonly pk: number;
  readonly id: string;
  readonly kind: FoundTask['kind'];
  readonly agent: AgentDefinition;
  readonly turn: OpenTurn;
  /** Events of the task when the run began. */
  readonly eventCount: number;
  /** Token counts of the session when the run began: what it has more at the end, the run has used. */
  readonly before: { readonly input: number; readonly output: number };
}

interface Parts {
  readonly store: Store;
  /** Ms since the epoch. */
  readonly clock: () => number;
  readonly leaseMs: number;
}

/**
 * Takes the next queued task: it runs from here on, its session is taken, and its input is stored, all in one
 * transaction. A task that cannot begin fails, and the one after it is tried. Null when none is left.
 *
 * One that another process is about to take is not waited for: of many that look at the same queue, each takes
 * another one. Only when nothing else was to be had is such a task looked at again, for it may just be appended to.
 */
export async function claimTask(parts: Parts): Promise<ClaimedTask | null> {
  const passed = new Map<number, FoundTask>();
  for await (const task of nextTasks(parts.store.read)) {
    // What comes after a task on its session waits for it.
    if (passed.has(task.session_pk)) continue;
    const tried = await tryTask(parts, task, findTaskUnlessTaken);
    if (typeof tried === 'object') return tried;
    if (tried === 'taken') passed.set(task.session_pk, task);
  }
  for (const task of passed.values()) {
    const tried = await tryTask(parts, task, findTaskByPk);
    if (typeof tried === 'object') return tried;
  }
  return null;
}

async function tryTask(
  parts: Parts,
  { pk }: FoundTask,
  lock: typeof findTaskByPk,
): Promise<ClaimedTask | 'taken' | 'passed'> {
  try {
    return await parts.store.tx(async (db) => {
      // Session and task, in this order, as whoever changes both; from here on the task is as it is read.
      const task = await lock(db, pk);
      if (task === null) return 'taken';
      if (task.status !== 'queued') return 'passed';
      return (await mayBegin(db, task)) ? claim(db, task, parts) : 'passed';
    });
  } catch (error) {
    const failure = error instanceof AppError ? error : null;
    if (failure?.code === 'STORE_UNAVAILABLE') throw error;
    if (failure?.code === 'SESSION_BUSY') return 'passed';
    await parts.store.tx((db) => refuse(db, pk, failure, parts.clock()));
    if (failure === null) throw error;
    return 'passed';
  }
}

async function claim(db: Db, task: FoundTask, { clock, leaseMs }: Parts): Promise<ClaimedTask> {
  const nowMs = clock();
  const owner = newLeaseToken();
  const { pk, id, kind, session_pk } = task;
  // Throws SESSION_BUSY, when a turn runs on the session by now, before there is another reason to refuse the task.
  const turn = await beginTask(db, task, { owner, leaseMs, nowMs });
  const agent = await findDefinition(db, task.tenant, task.agent);
  if (agent === null) throw new AppError('AGENT_NOT_FOUND', `There is no agent ${task.agent}`);
  const change = {
    owner,
    started_at: task.started_at ?? nowMs,
    turn_position: turn.position,
    ...NOTHING_TO_BRING,
    error_code: null,
    error_detail: null,
  };
  if (!(await moveTask(db, task, { to: 'running', change }, nowMs)))
    throw new Error('a locked task has changed');
  await renewTask(db, pk, owner, leaseMs);
  const session = await findSessionByPk(db, session_pk);
  const before = { input: session?.input_tokens ?? 0, output: session?.output_tokens ?? 0 };
  // One more: that it runs.
  return { pk, id, kind, agent, turn, eventCount: task.event_count + 1, before };
}

/** A task that could not begin has still been tried: it runs and fails in one. */
async function refuse(db: Db, pk: number, failure: AppError | null, nowMs: number): Promise<void> {
  const task = await findTaskByPk(db, pk);
  if (task === null || task.status !== 'queued') return;
  const code = failure?.code ?? 'INTERNAL_ERROR';
  const detail = failure?.message ?? 'Unexpected failure';
  const owner = newLeaseToken();
  const started = { owner, started_at: task.started_at ?? nowMs };
  if (!(await moveTask(db, task, { to: 'running', change: started }, nowMs))) return;
  await moveTask(
    db,
    { ...task, status: 'running', owner },
    {
      to: 'failed',
      change: { ...NOTHING_TO_BRING, error_code: code, error_detail: detail },
      tell: { error: { code, detail } },
    },
    nowMs,
  );
}

/** Of a task whose results or message are stored, or are not going to be. */
const NOTHING_TO_BRING = { resume_input: null, wait_position: null, wait_calls: null };
