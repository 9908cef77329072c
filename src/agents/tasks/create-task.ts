import { addTaskEvent } from '../../db/repositories/task-events.js';
import { type FoundTask, findTaskByPk, insertTask } from '../../db/repositories/tasks.js';
import type { Db } from '../../db/store.js';
import type { SessionRow } from '../../db/tables.js';
import { newId } from '../../ids.js';
import { createSession } from '../../sessions/new-session.js';
import type { AgentDefinition } from '../definition.js';
import type { TurnContent } from '../turn/input.js';

export interface NewTaskFields {
  readonly tenant: string;
  readonly agent: AgentDefinition;
  readonly kind: FoundTask['kind'];
  readonly input: TurnContent;
  /** Null begins a new session. */
  readonly session: SessionRow | null;
}

/** Puts a task into the queue. Its input comes into the session when it is claimed, and not before. */
export async function createTask(db: Db, fields: NewTaskFields, nowMs: number): Promise<FoundTask> {
  const { tenant, agent, kind, input } = fields;
  const session =
    fields.session ??
    (await createSession(
      db,
      {
        tenant,
        id: null,
        kind: kind === 'tick' ? 'daemon' : 'task',
        agent: agent.name,
        compactCount: agent.defaultCompaction?.compactionCount ?? null,
      },
      nowMs,
    ));
  const pk = await insertTask(db, {
    tenant,
    id: newId('task', nowMs),
    session_pk: session.pk,
    agent: agent.name,
    kind,
    status: 'queued',
    input: JSON.stringify(input),
    created_at: nowMs,
    updated_at: nowMs,
  });
  await addTaskEvent(db, pk, { type: 'task-queued', data: { status: 'queued' } }, nowMs);
  const task = await findTaskByPk(db, pk);
  if (task === null) throw new Error('the inserted task did not come back');
  return task;
}
