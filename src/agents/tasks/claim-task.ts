import { findSessionByPk } from '../../db/repositories/sessions.js';
import {
  changeTask,
  claimableTasks,
  type FoundTask,
  findTaskByPk,
  renewTask,
} from '../../db/repositories/tasks.js';
import type { Db, Store } from '../../db/store.js';
import { AppError } from '../../errors.js';
import { newLeaseToken } from '../../ids.js';
import { findDefinition } from '../agent-service.js';
import type { AgentDefinition } from '../definition.js';
import type { OpenTurn } from '../turn/open-turn.js';
import { beginTask } from './begin-task.js';
import { moveTask } from './move-task.js';
import { nextTask } from './next-task.js';

/** A task that is this process's to run now. */
export interface ClaimedTask {
  readonly pk: number;
  readonly id: string;
  readonly kind: FoundTask['kind'];
  readonly agent: AgentDefinition;
  readonly turn: OpenTurn;
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
 */
export async function claimTask(parts: Parts): Promise<ClaimedTask | null> {
  const { store } = parts;
  while ((await claimableTasks(store.read, 0, 1)).length > 0) {
    const chosen: { task: FoundTask | null } = { task: null };
    try {
      return await store.tx(async (db) => {
        chosen.task = await nextTask(db);
        return chosen.task === null ? null : await claim(db, chosen.task, parts);
      });
    } catch (error) {
      const { task } = chosen;
      const failure = error instanceof AppError ? error : null;
      if (task === null || failure?.code === 'STORE_UNAVAILABLE') throw error;
      if (failure?.code === 'SESSION_BUSY') return null;
      await store.tx((db) => refuse(db, task, failure, parts.clock()));
      if (failure === null) throw error;
    }
  }
  return null;
}

async function claim(db: Db, task: FoundTask, { clock, leaseMs }: Parts): Promise<ClaimedTask> {
  const nowMs = clock();
  const owner = newLeaseToken();
  const { pk, id, kind, session_pk } = task;
  const agent = await findDefinition(db, task.tenant, task.agent);
  if (agent === null) throw new AppError('AGENT_NOT_FOUND', `There is no agent ${task.agent}`);
  const change = { owner, started_at: task.started_at ?? nowMs, error_code: null, error_detail: null };
  if (!(await moveTask(db, task, { to: 'running', change }, nowMs))) throw takenMeanwhile();
  const turn = await beginTask(db, task, { owner, leaseMs, nowMs });
  const stored = { turn_position: turn.position, resume_input: null, wait_position: null, wait_calls: null };
  await changeTask(db, { pk, status: 'running', owner }, stored);
  await renewTask(db, pk, owner, leaseMs);
  const session = await findSessionByPk(db, session_pk);
  const before = { input: session?.input_tokens ?? 0, output: session?.output_tokens ?? 0 };
  return { pk, id, kind, agent, turn, before };
}

/** A task that could not begin has still been tried: it runs and fails in one. */
async function refuse(db: Db, { pk }: FoundTask, failure: AppError | null, nowMs: number): Promise<void> {
  const task = await findTaskByPk(db, pk);
  if (task === null || task.status !== 'queued') return;
  const code = failure?.code ?? 'INTERNAL_ERROR';
  const detail = failure?.message ?? 'Unexpected failure';
  const owner = newLeaseToken();
  const started = { owner, started_at: task.started_at ?? nowMs };
  if (!(await moveTask(db, task, { to: 'running', change: started }, nowMs))) return;
  const dropped = { resume_input: null, wait_position: null, wait_calls: null };
  await moveTask(
    db,
    { ...task, status: 'running', owner },
    {
      to: 'failed',
      change: { ...dropped, error_code: code, error_detail: detail },
      tell: { error: { code, detail } },
    },
    nowMs,
  );
}

const takenMeanwhile = () => new AppError('SESSION_BUSY', 'Another process has taken the task');
