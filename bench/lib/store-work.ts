import type { Store } from '../../src/db/store.js';
import { built } from './built.js';
import { TENANT } from './dataset.js';
import { sampleMessage } from './sample-messages.js';

/** What is compared; each call is one operation. */
export interface Work {
  append(): Promise<unknown>;
  context(): Promise<unknown>;
  plan(): Promise<unknown>;
}

const STORED = 10_000;
const OPEN = 50;
const BATCH = 1_000;
/** The session that contexts and plans are made of; it does not change. */
const READ = 'stores-read';
const APPENDED = Array.from({ length: 20 }, (_, index) => `stores-append-${index}`);
export const MESSAGE = {
  role: 'user',
  content: 'The ferry to Oslo leaves at 18:30. '.repeat(9).slice(0, 300),
} as const;

const NEW = { agent: null, title: null, compactCount: null, metadata: null, messages: [] };

/** Names of sessions to append to, in turn: those that are written at once are different ones. */
export function appendedSessions(): () => string {
  let next = 0;
  return () => APPENDED[next++ % APPENDED.length] ?? '';
}

/** A session of 10,000 messages, 50 of them after a summary, and sessions to append to. */
export async function fillStore(store: Store): Promise<void> {
  const sessions = await sessionService(store);
  for (const id of [READ, ...APPENDED]) await sessions.create(TENANT, { ...NEW, id });
  for (let seq = 0; seq < STORED; seq += BATCH) {
    const messages = Array.from({ length: BATCH }, (_, index) => {
      const message = sampleMessage(seq + index);
      return { message, json: JSON.stringify(message) };
    });
    await sessions.append(TENANT, READ, messages);
  }
  const { eq } = await import('drizzle-orm');
  await store.tx(async ({ orm, tables }) => {
    await orm
      .update(tables.sessions)
      .set({ compact_size: STORED - 2 - OPEN, compact_summary: 'What was said.' })
      .where(eq(tables.sessions.id, READ));
  });
}

/** The service's own way. Contexts are read from the database each time. */
export async function storeWork(store: Store): Promise<Work> {
  const { ContextService } = await built<typeof import('../../src/sessions/context-service.js')>(
    'sessions/context-service.js',
  );
  const { findSession } = await built<typeof import('../../src/db/repositories/sessions.js')>(
    'db/repositories/sessions.js',
  );
  const { planSession } = await built<typeof import('../../src/compaction/plan-session.js')>(
    'compaction/plan-session.js',
  );
  const sessions = await sessionService(store);
  const contexts = new ContextService(store, { cacheBytes: 0, wire: {}, promptOf: async () => null });
  const nextSession = appendedSessions();
  const message = { message: MESSAGE, json: JSON.stringify(MESSAGE) };
  return {
    append: () => sessions.append(TENANT, nextSession(), [message]),
    context: () => contexts.read(TENANT, READ),
    plan: () =>
      store.snapshot(async (db) => {
        const session = await findSession(db, TENANT, READ);
        if (session === null) throw new Error('there is no session');
        return planSession(db, session, { percent: 50, keepRecent: 0, holdFrom: null });
      }),
  };
}

async function sessionService(store: Store) {
  const { SessionService } = await built<typeof import('../../src/sessions/session-service.js')>(
    'sessions/session-service.js',
  );
  return new SessionService({
    store,
    clock: Date.now,
    percentOf: async () => null,
    onRemoved: () => {},
    onReset: async () => {},
  });
}
