import { describe, expect, it, onTestFinished } from 'vitest';
import { percentOfAgent } from '../../src/agents/agent-service.js';
import type { ChatMessage } from '../../src/compaction/measure.js';
import { POSTGRES_DEFAULTS } from '../../src/db/postgres/settings.js';
import { takeTurn } from '../../src/db/repositories/turn-leases.js';
import type { Store } from '../../src/db/store.js';
import { openPostgresStore } from '../../src/db/store.postgres.js';
import { numberMessages } from '../../src/sessions/number-messages.js';
import { SessionService } from '../../src/sessions/session-service.js';
import { assistant, calls, result, system, user } from '../support/messages.js';
import { freshDatabase } from '../support/postgres.js';
import { postgresSql } from '../support/sql.js';

const NOTHING = { messageCount: 0, conversationCount: 0, totalChars: 0, openGroupStart: null };
const NEW = { agent: null, title: null, compactCount: null, metadata: null, messages: [] };
const incoming = (messages: readonly ChatMessage[]) =>
  messages.map((message) => ({ message, json: JSON.stringify(message) }));

async function start() {
  const url = await freshDatabase();
  const store = openPostgresStore(url, POSTGRES_DEFAULTS, () => {});
  onTestFinished(() => store.close());
  const parts = {
    store,
    clock: () => 7,
    percentOf: percentOfAgent,
    onRemoved: () => {},
    onReset: async () => {},
  };
  return { url, store, service: new SessionService(parts) };
}

let ids = 0;

function append(store: Store, id: string, messages: readonly ChatMessage[], speaks = true) {
  const { numbered } = numberMessages(messages, NOTHING);
  const run = numbered.map((message, index) => ({
    ...message,
    id: `run_${ids++}`,
    body: JSON.stringify(messages[index]),
  }));
  return store.appendRun?.({ tenant: 't', id, messages: run, speaks, nowMs: 7 });
}

const rowsOf = (url: string, id: string) =>
  postgresSql(
    url,
    `SELECT seq, position, group_start, running_total, role, tool_call_count, chars, text_bytes, messages.created_at, body
     FROM messages JOIN sessions ON sessions.pk = session_pk WHERE sessions.id = ? ORDER BY seq`,
    [id],
  );
const sessionOf = (url: string, id: string) =>
  postgresSql(
    url,
    `SELECT message_count, conversation_count, total_chars, compact_size, turn_position, version, updated_at
     FROM sessions WHERE id = ?`,
    [id],
  );

describe('an append as one statement', () => {
  it('leaves what a transaction leaves', async () => {
    const { url, store, service } = await start();
    const runs = [
      [
        system('s0'),
        user('\u00fcber "all" \\ {1,2} NULL'),
        calls(['c', 'd']),
        result('c', 'r'),
        result('d', 'r2'),
      ],
      [assistant(''), system('s1'), user('x'.repeat(100_000)), user("it's $1 \u{1F600} \\u0000")],
      [system('only')],
    ];
    for (const id of ['tx', 'run']) await service.create('t', { ...NEW, id });
    const starts = [];
    for (const messages of runs) {
      await service.append('t', 'tx', incoming(messages));
      starts.push(await append(store, 'run', messages));
    }
    expect(starts).toEqual([
      { seq: 0, position: 0 },
      { seq: 5, position: 4 },
      { seq: 9, position: 7 },
    ]);
    expect(rowsOf(url, 'run')).toEqual(rowsOf(url, 'tx'));
    expect(sessionOf(url, 'run')).toEqual(sessionOf(url, 'tx'));
  });

  it('follows others without a gap, whichever way they come', async () => {
    const { url, store, service } = await start();
    await service.create('t', { ...NEW, id: 's' });
    await Promise.all(
      Array.from({ length: 60 }, (_, i) =>
        i % 2 === 0
          ? append(store, 's', [user(`m${i}`), assistant('a')])
          : service.append('t', 's', incoming([user(`m${i}`), assistant('a')])),
      ),
    );
    const rows = postgresSql(
      url,
      'SELECT seq, position, running_total, chars FROM messages ORDER BY seq',
      [],
    );
    let total = 0;
    expect(rows).toEqual(
      Array.from({ length: 120 }, (_, seq) => {
        const chars = Number(Reflect.get(Object(rows[seq]), 'chars'));
        total += chars;
        return { seq, position: seq, running_total: total, chars };
      }),
    );
    expect(sessionOf(url, 's')).toMatchObject([{ message_count: 120, total_chars: total, version: 61 }]);
  });

  it('does nothing to a session that is gone, closed, or held by a turn', async () => {
    const { url, store, service } = await start();
    const session = await service.create('t', { ...NEW, id: 's' });
    expect(await append(store, 'none', [user('u')])).toBeNull();
    await store.tx((db) => takeTurn(db, session.pk, 'owner', 60_000));
    expect(await append(store, 's', [user('u')])).toBeNull();
    await store.tx((db) => takeTurn(db, session.pk, 'owner', 1));
    postgresSql(url, 'UPDATE sessions SET turn_expires_at = 1, turn_position = 3, compact_size = 9', []);
    expect(await append(store, 's', [system('s')], false)).toEqual({ seq: 0, position: 0 });
    expect(sessionOf(url, 's')).toMatchObject([{ turn_position: 3, compact_size: 0 }]);
    expect(await append(store, 's', [user('u')])).toBeNull();
    await service.append('t', 's', incoming([user('u')]));
    expect(sessionOf(url, 's')).toMatchObject([{ turn_position: null, message_count: 2 }]);
    await service.setStatus('t', 's', 'closed');
    expect(await append(store, 's', [user('u')])).toBeNull();
    expect(rowsOf(url, 's').length).toBe(2);
  });
});
