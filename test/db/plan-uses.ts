import { claimTask } from '../../src/agents/tasks/claim-task.js';
import { interruptExpired } from '../../src/agents/tasks/interrupt.js';
import type { ChatMessage } from '../../src/compaction/measure.js';
import { planSession } from '../../src/compaction/plan-session.js';
import { findAgent, listAgents } from '../../src/db/repositories/agents.js';
import { commitSummary, findCompaction, listCompactions } from '../../src/db/repositories/compactions.js';
import { leaseRest, releaseLease, renewLease, takeLease } from '../../src/db/repositories/leases.js';
import { conversationBetween } from '../../src/db/repositories/messages.js';
import { findSession, findSessionByPk } from '../../src/db/repositories/sessions.js';
import { closeUnfinishedSubagents } from '../../src/db/repositories/subagent-sessions.js';
import { addTaskEvent, taskEventsAfter, taskProgress } from '../../src/db/repositories/task-events.js';
import {
  findTask,
  hasActiveTick,
  holdingTask,
  listTasks,
  lowestHold,
  renewTask,
  tasksOfSession,
} from '../../src/db/repositories/tasks.js';
import { dueAgents, takeDueTick } from '../../src/db/repositories/ticks.js';
import {
  leaveTurn,
  renewTurn,
  sessionOfTurn,
  takeTurn,
  turnRest,
} from '../../src/db/repositories/turn-leases.js';
import type { Db, Store } from '../../src/db/store.js';
import type { SessionRow } from '../../src/db/tables.js';
import {
  answerClaim,
  findAnswer,
  openClaim,
  placeClaim,
  releaseClaim,
  renewClaim,
} from '../../src/idempotency/claims.js';
import { toIncoming } from '../../src/sessions/append.js';
import { ContextService } from '../../src/sessions/context-service.js';
import { listMessages } from '../../src/sessions/message-list.js';
import { SessionService } from '../../src/sessions/session-service.js';
import { calls, result, user } from '../support/messages.js';
import { sessionIdOf, taskIdOf } from './plan-data.js';

const TENANT = 'default';
const OWNER = 'plan-owner';
const LEASE_MS = 30_000;
const PLAN = { percent: 50, keepRecent: 0, holdFrom: null };

/** Something that a service does many times a second, on the session with this key. */
export type HotUse = (store: Store, pk: number) => Promise<unknown>;

/** Every hot path, by what it does; each leaves the session as another use may find it. */
export const HOT_USES: Readonly<Record<string, HotUse>> = {
  'append of questions': (store, pk) => append(store, pk, [user('Hello?'), user('Anybody there?')]),
  'append of calls and results': async (store, pk) => {
    await append(store, pk, [user('Look.'), calls(['c1'])]);
    await append(store, pk, [result('c1', 'one')]);
  },
  'append under a key': (store, pk) =>
    sessions(store).appendOnce(TENANT, sessionIdOf(pk), [toIncoming(user('Once.'))], {
      request: { tenant: TENANT, key: `append-${pk}`, fingerprint: 'f' },
      answer: () => ({ status: 201, location: null, body: '{}' }),
    }),
  context: (store, pk) => contexts(store).read(TENANT, sessionIdOf(pk)),
  'context of a turn': (store, pk) => contexts(store).readForTurn(pk, 'Be brief.'),
  'plan of a compaction': (store, pk) =>
    store.snapshot(async (db) => {
      const session = await sessionAt(db, pk);
      await planSession(db, session, PLAN);
      await planSession(db, { ...session, compact_size: 0, compact_summary: null }, PLAN);
      await planSession(db, session, {
        percent: 50,
        keepRecent: 6,
        holdFrom: { position: session.conversation_count - 8, reason: 'turn_open' },
      });
    }),
  'transcript of a compaction': (store, pk) => store.snapshot((db) => conversationBetween(db, pk, 3, 40)),
  'lease of a compaction': (store, pk) =>
    store.tx(async (db) => {
      const session = await takeLease(db, pk, OWNER, LEASE_MS);
      if (session === null) throw new Error('the session has a lease already');
      await renewLease(db, pk, OWNER, LEASE_MS);
      await leaseRest(db, pk);
      await commitSummary(
        db,
        {
          sessionPk: pk,
          owner: OWNER,
          revision: session.revision,
          summary: 'What was said.',
          size: session.compact_size,
          compactionId: 'c1',
          carried: null,
          manual: true,
        },
        1,
      );
      await releaseLease(db, pk, OWNER);
    }),
  'lease of a turn': (store, pk) =>
    store.tx(async (db) => {
      await takeTurn(db, pk, OWNER, LEASE_MS);
      await renewTurn(db, pk, OWNER, LEASE_MS);
      await turnRest(db, pk);
      await sessionOfTurn(db, pk, OWNER);
      await leaveTurn(db, pk, OWNER, null);
    }),
  'pages of messages': async (store, pk) => {
    const id = sessionIdOf(pk);
    const all = { after: null, before: null };
    await listMessages(store, TENANT, id, { ...all, order: 'asc' }, 50);
    await listMessages(store, TENANT, id, { ...all, order: 'desc' }, 50);
    await listMessages(store, TENANT, id, { after: 10, before: 60, order: 'desc' }, 50);
  },
  'look-ups of sessions': async (store, pk) => {
    await findSession(store.read, TENANT, sessionIdOf(pk));
    await store.tx((db) => findSession(db, TENANT, sessionIdOf(pk)));
    await store.tx((db) => findSessionByPk(db, pk));
  },
  'lists of sessions': async (store, pk) => {
    const service = sessions(store);
    await service.list({ tenant: TENANT }, null, 51);
    await service.list({ tenant: TENANT }, pk + 200, 51);
    await service.list({ tenant: TENANT, agent: 'agent3' }, null, 51);
    await service.list({ tenant: TENANT, status: 'open' }, null, 51);
  },
  'compactions of a session': async (store, pk) => {
    await listCompactions(store.read, pk, null, 51);
    await findCompaction(store.read, pk, `c${pk - 1}`);
  },
  'claim of a task': (store) => claimTask({ store, clock: () => 1, leaseMs: LEASE_MS }),
  'tasks whose process is gone': (store) => interruptExpired(store, () => 1),
  'work of a task': async (store, pk) => {
    const task = await store.tx((db) => findTask(db, TENANT, taskIdOf(pk)));
    if (task === null) throw new Error('there is no such task');
    await store.tx((db) => renewTask(db, task.pk, OWNER, LEASE_MS));
    await store.tx((db) => addTaskEvent(db, task.pk, { type: 'step', data: {} }, 1));
    await taskEventsAfter(store.read, task.pk, 0, 100);
    await taskProgress(store.read, task.pk);
    await tasksOfSession(store.read, pk);
    await lowestHold(store.read, pk);
    await holdingTask(store.read, pk, 1);
  },
  'lists of tasks': async (store, pk) => {
    await listTasks(store.read, { tenant: TENANT }, null, 51);
    await listTasks(store.read, { tenant: TENANT, agent: 'agent3' }, pk + 5_000, 51);
    await listTasks(store.read, { tenant: TENANT, sessionId: sessionIdOf(pk) }, null, 51);
  },
  ticks: async (store) => {
    const [due] = await dueAgents(store.read, 10);
    if (due === undefined) throw new Error('no tick is due');
    await store.tx((db) => takeDueTick(db, due, LEASE_MS));
    await hasActiveTick(store.read, TENANT, 'agent4');
  },
  agents: async (store) => {
    await findAgent(store.read, TENANT, 'agent3');
    await listAgents(store.read, TENANT, null, 51);
  },
  subagents: (store, pk) =>
    store.tx((db) => closeUnfinishedSubagents(db, TENANT, [sessionIdOf(pk), 'nobody'], 1)),
  'idempotency keys': async (store, pk) => {
    const request = { tenant: TENANT, key: `new-${pk}`, fingerprint: 'f' };
    await store.tx((db) => openClaim(db, request, OWNER, LEASE_MS, 1));
    await store.tx((db) => placeClaim(db, request, OWNER, { sessionPk: pk, position: 1 }));
    await store.tx((db) => renewClaim(db, request, OWNER, LEASE_MS));
    await store.tx((db) => releaseClaim(db, request, OWNER));
    await store.tx((db) => openClaim(db, request, OWNER, LEASE_MS, 1));
    await store.tx((db) => answerClaim(db, request, OWNER, { status: 200, location: null, body: '{}' }));
    await findAnswer(store.read, request);
  },
};

/** The services over each store, so that their statements are prepared once. */
const sessions = (store: Store) =>
  new SessionService({
    store,
    clock: () => 1,
    percentOf: async () => null,
    onRemoved: () => {},
    onReset: async () => {},
  });
const contexts = (store: Store) =>
  new ContextService(store, {
    cacheBytes: 0,
    wire: {},
    promptOf: async (db, tenant, agent) => (await findAgent(db, tenant, agent))?.definition ?? null,
  });

function append(store: Store, pk: number, messages: readonly ChatMessage[]) {
  return sessions(store).append(TENANT, sessionIdOf(pk), messages.map(toIncoming));
}

async function sessionAt(db: Db, pk: number): Promise<SessionRow> {
  const session = await findSessionByPk(db, pk);
  if (session === null) throw new Error('there is no such session');
  return session;
}
