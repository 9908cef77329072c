import { createHash } from 'node:crypto';
import { findSessionByPk } from '../../db/repositories/sessions.js';
import { type FoundTask, findTaskByPk } from '../../db/repositories/tasks.js';
import type { Db } from '../../db/store.js';
import { AppError, fieldError } from '../../errors.js';
import { findDefinition } from '../agent-service.js';
import { checkResults, type ToolResult, type TurnInput } from '../turn/input.js';
import type { OutstandingCall } from '../turn/outstanding-calls.js';
import { moveTask } from './move-task.js';
import { resumeInputOf, waitCallsOf } from './task-fields.js';

/**
 * Puts a task back into the queue: one that waits with the results, or with a message in their stead, one that
 * failed or was interrupted as it is or with a message. The same resume again changes nothing, whatever has become
 * of the task since, but for another failure or interruption: from there the task goes on.
 *
 * @throws AppError TASK_NOT_RESUMABLE, TOOL_CALL_CLOSED, VALIDATION_FAILED, SESSION_CHANGED, SESSION_CLOSED, AGENT_NOT_FOUND
 */
export async function resumeTask(
  db: Db,
  task: FoundTask,
  input: TurnInput,
  nowMs: number,
): Promise<FoundTask> {
  const hash = hashOf(input);
  const same = task.resume_hash === hash;
  switch (task.kind === 'tick' ? 'completed' : task.status) {
    case 'waiting': {
      const calls = waitCallsOf(task);
      if (same && !answersSome(input.toolResults, calls)) return task;
      checkAnswers(input, calls);
      return queue(db, task, input, hash, nowMs);
    }
    case 'failed':
    case 'interrupted': {
      if (!same) checkResults(input.toolResults, []);
      const brings = !same && input.message !== null;
      if (!brings) await requireUnchanged(db, task);
      return queue(db, task, brings ? input : resumeInputOf(task), hash, nowMs);
    }
    case 'queued':
    case 'running':
    case 'completed':
      if (same) return task;
  }
  const what = task.kind === 'tick' ? 'a tick' : task.status;
  throw new AppError('TASK_NOT_RESUMABLE', `The task is ${what}: there is nothing to resume`);
}

async function queue(
  db: Db,
  task: FoundTask,
  input: TurnInput | null,
  hash: string,
  nowMs: number,
): Promise<FoundTask> {
  const session = await findSessionByPk(db, task.session_pk);
  if (session?.status === 'closed')
    throw new AppError('SESSION_CLOSED', `Session ${task.session_id} is closed`);
  if ((await findDefinition(db, task.tenant, task.agent)) === null)
    throw new AppError('AGENT_NOT_FOUND', `There is no agent ${task.agent}`);
  const change = {
    resume_input: input === null ? null : JSON.stringify(input),
    resume_hash: hash,
    error_code: null,
    error_detail: null,
  };
  await moveTask(db, task, { to: 'queued', change }, nowMs);
  return (await findTaskByPk(db, task.pk)) ?? task;
}

/** All results at once, or a message, which abandons the calls that have none. */
function checkAnswers({ message, toolResults }: TurnInput, calls: readonly OutstandingCall[]): void {
  if (message === null && toolResults.length === 0)
    throw fieldError('body', '', 'must have toolResults or a message: the task waits for results');
  checkResults(toolResults, calls);
  if (message !== null || toolResults.length === calls.length) return;
  const ids = calls.map(({ id }) => id).join(', ');
  throw fieldError('body', '/toolResults', `must answer all calls, ${ids}, unless there is a message`);
}

/** Whether these can be results of the calls: models may give a later call the id of an earlier one. */
function answersSome(results: readonly ToolResult[], calls: readonly OutstandingCall[]): boolean {
  return results.some(({ toolCallId }) => calls.some(({ id }) => id === toolCallId));
}

/** A task with nothing new goes on from its last message, which no other turn may have answered meanwhile. */
async function requireUnchanged(db: Db, { session_pk, turn_position }: FoundTask): Promise<void> {
  const session = await findSessionByPk(db, session_pk);
  if (turn_position === null || session === null || session.turn_position === turn_position) return;
  const detail = 'The session went on without the task: resume it with a message';
  throw new AppError('SESSION_CHANGED', detail, { retryable: false });
}

function hashOf({ message, toolResults }: TurnInput): string {
  return createHash('sha256')
    .update(JSON.stringify([message, toolResults]))
    .digest('hex');
}
