import { inOpenAiForm } from '../agents/answer.js';
import { inputOf, waitCallsOf } from '../agents/tasks/task-fields.js';
import type { FoundTask } from '../db/repositories/tasks.js';
import type { StoredAnswer } from '../idempotency/claims.js';
import { iso, isoOrNull } from './present.js';

/** A task as clients read it. */
export function presentTask(task: FoundTask) {
  const result: object | null = task.result === null ? null : JSON.parse(task.result);
  return {
    id: task.id,
    agent: task.agent,
    kind: task.kind,
    status: task.status,
    session_id: task.session_id,
    input: inputOf(task),
    tool_calls: task.status === 'waiting' ? waitCallsOf(task).map(inOpenAiForm) : null,
    result,
    finish_reason: task.finish_reason,
    error: task.error_code === null ? null : { code: task.error_code, detail: task.error_detail ?? '' },
    usage: { input_tokens: task.input_tokens, output_tokens: task.output_tokens },
    created_at: iso(task.created_at),
    updated_at: iso(task.updated_at),
    started_at: isoOrNull(task.started_at),
    finished_at: isoOrNull(task.finished_at),
  };
}

/** The answer to whatever queues a task. */
export function taskAccepted(task: FoundTask): StoredAnswer {
  return { status: 202, location: `/tasks/${task.id}`, body: JSON.stringify(presentTask(task)) };
}
