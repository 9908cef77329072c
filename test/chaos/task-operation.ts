import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { type TaskEvent, taskEvents } from './follow.js';
import type { SentTask } from './journal.js';
import type { Load } from './load.js';
import { newMark } from './marks.js';
import { AGENTS, anySession, requestWith, textWith } from './operations.js';

/** How often it lets the task go on. */
const MOST_RESUMES = 4;

/** A task, on a session that is there or one of its own, followed and resumed until it rests or its client leaves it. */
export async function runTask(load: Load): Promise<void> {
  const { client, random, journal, patienceMs } = load;
  const mark = newMark('task');
  const created = await client.settle({
    kind: 'task',
    method: 'POST',
    path: `/agents/${random.pick(AGENTS)}/tasks`,
    body: {
      input: requestWith(mark, random),
      ...(random.chance(0.7) ? { sessionId: anySession(load) } : {}),
    },
    key: randomUUID(),
  });
  if (created.kind !== 'done' || created.answer === null) return;
  const { id, session_id: sessionId } = created.answer.body;
  const task: SentTask = { id, mark, sessionId, events: new Map() };
  journal.tasks.push(task);
  const until = performance.now() + patienceMs;
  for (let resumes = 0; performance.now() < until; resumes += 1) {
    const rest = await nextRest(load, task, until);
    if (rest === null || rest.type === 'task-completed' || rest.type === 'task-cancelled') return;
    if (random.chance(0.06)) {
      await client.settle({ kind: 'task cancel', method: 'POST', path: `/tasks/${id}/cancel` });
      return;
    }
    // What is left behind waits, failed or was interrupted: that is how it must be found.
    if (resumes === MOST_RESUMES || random.chance(0.08)) return;
    if (!(await resume(load, task, rest))) return;
  }
}

/** Follows the task, from any node, until it waits or rests; null when the client has had enough. */
async function nextRest(
  { client, random, faults, figures }: Load,
  task: SentTask,
  until: number,
): Promise<TaskEvent | null> {
  while (performance.now() < until) {
    const url = client.url();
    const before = task.events.size - 1;
    if (url !== null) {
      for await (const event of taskEvents(`${url}/tasks/${task.id}/events`, before, until)) {
        if (!note(task, event, faults)) return null;
        figures.count('events', event.type);
        if (/^task-(waiting|completed|failed|cancelled|interrupted)$/.test(event.type)) return event;
      }
    }
    figures.count('events', 'stream ended early');
    await sleep(random.int(30, 300));
  }
  return null;
}

/** Each event comes once and in order. */
function note(task: SentTask, { seq, type, data }: TaskEvent, faults: string[]): boolean {
  if (seq !== task.events.size) {
    faults.push(`event ${seq} of ${task.id} (${type}) came after ${task.events.size - 1}`);
    return false;
  }
  task.events.set(seq, `${type} ${data}`);
  return true;
}

/** False when the task does not go on. */
async function resume({ client, random, journal }: Load, task: SentTask, rest: TaskEvent): Promise<boolean> {
  const { id, sessionId } = task;
  const asked = { kind: 'task resume', method: 'POST', path: `/tasks/${id}/resume` } as const;
  const { tool_calls: calls = [] }: { tool_calls?: { id: string }[] } = JSON.parse(rest.data);
  const marks = calls.map(() => newMark('result'));
  const toolResults = calls.map((call, index) => ({
    toolCallId: call.id,
    content: textWith(marks[index] ?? '', random),
  }));
  const body = rest.type === 'task-waiting' ? { toolResults } : {};
  const { kind, start, end } = await client.settle({ ...asked, body, key: randomUUID() });
  // They are stored when the task is claimed, which may never come.
  journal.sent.push({ sessionId, marks, outcome: 'unknown', start, end, seq: null });
  if (kind === 'done') return true;
  const message = newMark('instead');
  const text = textWith(message, random);
  const instead = await client.settle({ ...asked, body: { message: text }, key: randomUUID() });
  journal.sent.push({ ...instead, sessionId, marks: [message], outcome: 'unknown', seq: null });
  return instead.kind === 'done';
}
