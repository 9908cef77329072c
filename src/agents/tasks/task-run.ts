import { findSessionByPk } from '../../db/repositories/sessions.js';
import { type FoundTask, renewTask } from '../../db/repositories/tasks.js';
import { leaveTurn } from '../../db/repositories/turn-leases.js';
import type { Db } from '../../db/store.js';
import type { AppError } from '../../errors.js';
import { inOpenAiForm } from '../answer.js';
import type { Equipment } from '../subagents.js';
import type { TurnEnd } from '../turn/events.js';
import { outstandingCalls } from '../turn/outstanding-calls.js';
import type { TurnRun } from '../turn/run.js';
import type { ClaimedTask } from './claim-task.js';
import { interruption } from './interrupt.js';
import { moveTask } from './move-task.js';
import { ownTask, whyNotOwn } from './own-task.js';
import type { TaskLog } from './task-log.js';

interface Parts {
  /** Ms since the epoch. */
  readonly clock: () => number;
  readonly leaseMs: number;
}

/** The turn of a claimed task: whatever ends it changes the task in the same transaction. */
export function taskRun(
  { clock, leaseMs }: Parts,
  claimed: ClaimedTask,
  equipment: Equipment,
  log: TaskLog,
): TurnRun {
  const { pk, turn } = claimed;
  const { owner } = turn;
  return {
    ...equipment,
    turn,
    subagent: (call, signal) => {
      log.sawCall(call);
      return equipment.subagent(call, signal);
    },
    emit: (event) => log.push(event),
    finish: async (db, end) => {
      const task = await ownTask(db, pk, owner);
      if (task === null) throw await whyNotOwn(db, pk);
      await log.end(db, task, end);
      await leaveTurn(db, turn.sessionPk, owner, null);
      await (end.status === 'completed' ? complete : wait)(db, claimed, task, end, clock());
    },
    fail: async (db, failure) => {
      const task = await ownTask(db, pk, owner);
      if (task === null) return;
      await log.end(db, task, null);
      await fail(db, claimed, task, failure, clock());
    },
    renew: async (db) => ((await renewTask(db, pk, owner, leaseMs)) ? null : whyNotOwn(db, pk)),
  };
}

async function complete(
  db: Db,
  claimed: ClaimedTask,
  task: FoundTask,
  { message, finishReason }: TurnEnd,
  nowMs: number,
): Promise<void> {
  const change = {
    ...(await tokens(db, claimed, task)),
    result: JSON.stringify(message),
    finish_reason: finishReason,
  };
  const tell = { result: message, finish_reason: finishReason };
  await moveTask(db, task, { to: 'completed', change, tell }, nowMs);
}

/** Other turns may run on the session while a task waits; compactions stay off its calls and what comes after. */
async function wait(
  db: Db,
  claimed: ClaimedTask,
  task: FoundTask,
  { toolCalls }: TurnEnd,
  nowMs: number,
): Promise<void> {
  const session = await findSessionByPk(db, task.session_pk);
  const group = session === null ? null : await outstandingCalls(db, session);
  if (group === null) throw new Error('a turn that waits has no calls');
  const change = {
    ...(await tokens(db, claimed, task)),
    wait_position: group.position,
    wait_calls: JSON.stringify(toolCalls),
  };
  const tell = { tool_calls: toolCalls.map(inOpenAiForm) };
  await moveTask(db, task, { to: 'waiting', change, tell }, nowMs);
}

/** What stopped the work is no fault of the task: it is interrupted, as after a crash. */
async function fail(
  db: Db,
  claimed: ClaimedTask,
  task: FoundTask,
  failure: AppError,
  nowMs: number,
): Promise<void> {
  const used = await tokens(db, claimed, task);
  const { code, message: detail } = failure;
  const stopped = code === 'SHUTTING_DOWN' || code === 'SESSION_CHANGED';
  const move = stopped
    ? interruption(code === 'SHUTTING_DOWN' ? 'shutdown' : 'lease')
    : ({
        to: 'failed',
        change: { error_code: code, error_detail: detail },
        tell: { error: { code, detail } },
      } as const);
  await moveTask(db, task, { ...move, change: { ...move.change, ...used } }, nowMs);
}

/** What the run has used is what its session counts more: no other turn ran on it meanwhile. */
async function tokens(db: Db, { before }: ClaimedTask, task: FoundTask) {
  const session = await findSessionByPk(db, task.session_pk);
  return {
    input_tokens: task.input_tokens + Math.max(0, (session?.input_tokens ?? 0) - before.input),
    output_tokens: task.output_tokens + Math.max(0, (session?.output_tokens ?? 0) - before.output),
  };
}
