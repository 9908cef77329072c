import type { Client } from './client.js';
import type { Figures } from './figures.js';
import type { Journal, SentTask } from './journal.js';
import { marksIn } from './marks.js';
import type { SeenCall } from './model.js';
import { type Places, rowsOf } from './stored.js';

/** As documented: what may follow each state. */
const NEXT: Readonly<Record<string, readonly string[]>> = {
  queued: ['running', 'cancelled'],
  running: ['waiting', 'completed', 'failed', 'cancelled', 'interrupted'],
  waiting: ['queued', 'cancelled'],
  failed: ['queued', 'cancelled'],
  interrupted: ['queued', 'cancelled'],
  completed: [],
  cancelled: [],
};

export interface TaskCheck {
  readonly journal: Journal;
  readonly client: Client;
  readonly databaseUrl: string;
  readonly places: Places;
  readonly calls: ReadonlyMap<string, SeenCall>;
  readonly figures: Figures;
}

/** Each task of the clients in a documented state that its events lead to, and run as often as these say. */
export async function checkTasks(check: TaskCheck): Promise<string[]> {
  const rows = await rowsOf<{ id: string; told: string }>(
    check.databaseUrl,
    `SELECT tasks.id, type || ' ' || data AS told FROM task_events JOIN tasks ON tasks.pk = task_pk
     ORDER BY task_pk, seq`,
  );
  const faults: string[] = [];
  for (const task of check.journal.tasks) {
    const events = rows.filter(({ id }) => id === task.id).map(({ told }) => told);
    faults.push(...(await taskFaults(check, task, events)));
  }
  return faults;
}

async function taskFaults(
  { client, journal, places, calls, figures }: TaskCheck,
  task: SentTask,
  events: readonly string[],
): Promise<string[]> {
  const { id, mark, sessionId } = task;
  const { answer } = await client.settle({ kind: 'final reads', method: 'GET', path: `/tasks/${id}` });
  if (answer?.status !== 200) return [`${id} is not there: ${answer?.text}`];
  const { status } = answer.body;
  figures.count('tasks', status);
  const faults: string[] = [];
  for (const [seq, told] of task.events) {
    if (events[seq] !== told) faults.push(`event ${seq} was ${told} and is ${events[seq]}`);
  }
  const states = events.flatMap((told) => /^task-(\w+) /.exec(told)?.[1] ?? []);
  states.forEach((state, index) => {
    const before = states[index - 1];
    const isAllowed = before === undefined ? state === 'queued' : NEXT[before]?.includes(state);
    if (!isAllowed) faults.push(`it went from ${before} to ${state}`);
  });
  if (states.at(-1) !== status) faults.push(`it is ${status} after ${states.join(' ')}`);
  if (status === 'running' || status === 'queued') faults.push(`it is still ${status}`);

  const runs = states.filter((state) => state === 'running').length;
  const asked = [...calls.values()].filter(({ last }) => last === mark).length;
  if (asked > runs) faults.push(`its input was sent to the model ${asked} times in ${runs} runs`);
  figures.count('checked', 'first calls of tasks', asked);
  figures.count('checked', 'runs of tasks', runs);
  const isKept = !journal.mayBeGone({ sessionId, start: 0, end: 0, outcome: 'done' });
  if (status === 'completed' && isKept && places.seqIn(sessionId, mark) === null)
    faults.push('it is completed, and its input is not stored');
  const replies = events.flatMap((told) => (told.startsWith('message-completed ') ? marksIn(told) : []));
  const gone = replies.filter((reply) => places.seqIn(sessionId, reply) === null);
  if (gone.length > 0 && isKept) faults.push(`it told of ${gone.join(' ')}, which is not stored`);
  return faults.map((fault) => `${id} (${mark}): ${fault}`);
}
