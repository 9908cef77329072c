import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it, onTestFinished } from 'vitest';
import { percentOfAgent } from '../../src/agents/agent-service.js';
import type { ChatMessage } from '../../src/compaction/measure.js';
import { leaseRest, releaseLease, renewLease, takeLease } from '../../src/db/repositories/leases.js';
import { pageFrom, readJoinedPage } from '../../src/db/repositories/message-pages.js';
import { conversationBetween, messageAt, openGroupStart } from '../../src/db/repositories/messages.js';
import { changeSession, findSession, insertSession } from '../../src/db/repositories/sessions.js';
import type { Store } from '../../src/db/store.js';
import type { SessionRow } from '../../src/db/tables.js';
import { SessionService } from '../../src/sessions/session-service.js';
import { assistant, calls, result, system, user } from '../support/messages.js';
import { STORES } from './stores.js';

const REQUEST = { agent: null, title: null, compactCount: null, metadata: null };
const incoming = (messages: readonly ChatMessage[]) =>
  messages.map((message) => ({ message, json: JSON.stringify(message) }));

describe.each(STORES)('a store: $name', ({ open }) => {
  async function start(
    messages: readonly ChatMessage[] = [],
  ): Promise<{ store: Store; session: SessionRow }> {
    const store = await open();
    onTestFinished(() => store.close());
    const service = new SessionService({
      store,
      clock: () => 1_000,
      percentOf: percentOfAgent,
      onRemoved: () => {},
      onReset: async () => {},
    });
    const session = await service.create('t', { ...REQUEST, id: 's', messages: incoming(messages) });
    return { store, session };
  }

  it('shows a transaction to others only once it has committed', async () => {
    const { store, session } = await start();
    await store.tx(async (db) => {
      await changeSession(db, session.pk, { title: 'inside' }, 2_000);
      expect((await findSession(db, 't', 's'))?.title).toBe('inside');
      expect((await findSession(store.read, 't', 's'))?.title).toBeNull();
    });
    expect((await findSession(store.read, 't', 's'))?.title).toBe('inside');
  });

  it('undoes a transaction that throws, and says what was thrown', async () => {
    const { store, session } = await start();
    const failing = store.tx(async (db) => {
      await changeSession(db, session.pk, { title: 'gone' }, 2_000);
      throw new RangeError('no');
    });
    await expect(failing).rejects.toThrow(new RangeError('no'));
    expect((await findSession(store.read, 't', 's'))?.title).toBeNull();
  });

  it('keeps one state throughout a snapshot', async () => {
    const { store, session } = await start();
    await store.snapshot(async (db) => {
      const before = await findSession(db, 't', 's');
      await store.tx((tx) => changeSession(tx, session.pk, { title: 'later' }, 2_000));
      expect(await findSession(db, 't', 's')).toEqual(before);
    });
    expect((await findSession(store.read, 't', 's'))?.title).toBe('later');
  });

  it('opens more snapshots at once than it has connections', async () => {
    const { store } = await start();
    let most = 0;
    let open = 0;
    const titles = await Promise.all(
      Array.from({ length: 30 }, () =>
        store.snapshot(async (db) => {
          open += 1;
          most = Math.max(most, open);
          await sleep(5);
          const session = await findSession(db, 't', 's');
          open -= 1;
          return session?.id;
        }),
      ),
    );
    expect(titles).toEqual(Array.from({ length: 30 }, () => 's'));
    expect(most).toBeGreaterThan(1);
  });

  it('tells a value that is taken from every other failure', async () => {
    const { store, session } = await start();
    const again = await store
      .tx((db) => insertSession(db, { ...session, pk: undefined }))
      .catch((error: unknown) => error);
    expect(store.isUniqueViolation(again)).toBe(true);
    expect(store.isUniqueViolation(new Error('UNIQUE'))).toBe(false);
  });

  it('keeps ids apart by tenant', async () => {
    const { store, session } = await start();
    const other = await store.tx((db) => insertSession(db, { ...session, pk: undefined, tenant: 'u' }));
    expect(other.pk).not.toBe(session.pk);
    expect((await findSession(store.read, 'u', 's'))?.pk).toBe(other.pk);
    expect(await findSession(store.read, 'v', 's')).toBeNull();
  });

  it('gives a lease to one owner until it is given back or runs out', async () => {
    const { store, session } = await start();
    const take = (owner: string, ms: number) => store.tx((db) => takeLease(db, session.pk, owner, ms));
    expect((await take('a', 60_000))?.lease_owner).toBe('a');
    expect(await take('b', 60_000)).toBeNull();
    const rest = await leaseRest(store.read, session.pk);
    expect(rest).toBeGreaterThan(55_000);
    expect(rest).toBeLessThanOrEqual(60_000);
    expect(await store.tx((db) => renewLease(db, session.pk, 'b', 1))).toBe(false);
    await store.tx((db) => releaseLease(db, session.pk, 'b'));
    expect(await take('b', 60_000)).toBeNull();
    expect(await store.tx((db) => renewLease(db, session.pk, 'a', 30))).toBe(true);
    await sleep(40);
    expect(await store.tx((db) => renewLease(db, session.pk, 'a', 60_000))).toBe(false);
    expect((await take('b', 60_000))?.lease_owner).toBe('b');
    await store.tx((db) => releaseLease(db, session.pk, 'b'));
    expect(await leaseRest(store.read, session.pk)).toBe(0);
  });

  it('gives no lease on a closed session', async () => {
    const { store, session } = await start();
    await store.tx((db) => changeSession(db, session.pk, { status: 'closed', closed_at: 1 }, 1));
    expect(await store.tx((db) => takeLease(db, session.pk, 'a', 60_000))).toBeNull();
  });

  const mixed = [
    system('s0'),
    user('u'),
    system('s1'),
    calls(['c']),
    result('c', 'r'),
    assistant('a'),
    result('x', 'o'),
  ];

  it('finds messages by position, whatever system messages stand between', async () => {
    const { store, session } = await start(mixed);
    const seqs = [];
    for (let position = 0; position < 6; position += 1) {
      seqs.push((await messageAt(store.read, session.pk, position))?.seq ?? null);
    }
    expect(seqs).toEqual([1, 3, 4, 5, 6, null]);
  });

  it.each([
    [[user('u')], null],
    [[calls(['c'])], 0],
    [[user('u'), calls(['c']), result('c', 'r')], 1],
    [[user('u'), calls(['c']), system('s')], 1],
    [[user('u'), result('c', 'r')], null],
    [[], null],
  ])('knows which group a late result joins: %j', async (messages, groupStart) => {
    const { store, session } = await start(messages);
    expect(await openGroupStart(store.read, session.pk, session.conversation_count)).toBe(groupStart);
  });

  it('joins pages of messages as they were given', async () => {
    const { store, session } = await start(mixed);
    const page = await readJoinedPage(store.read, session.pk, 1, 4, false);
    expect(JSON.parse(`[${page.json}]`)).toEqual([user('u'), calls(['c']), result('c', 'r')]);
    expect({ ...page, json: '' }).toEqual({ json: '', count: 3, chars: 10, textBytes: 10 });
    const all = await readJoinedPage(store.read, session.pk, 0, 6, true);
    expect(JSON.parse(`[${all.json}]`)).toEqual(mixed);
    expect((await readJoinedPage(store.read, session.pk, 50, 60, true)).count).toBe(0);
  });

  it('ends pages at a number of rows and at a number of bytes', async () => {
    const { store, session } = await start([
      ...Array.from({ length: 300 }, (_, i) => user(`m${i}`)),
      ...Array.from({ length: 5 }, () => user('x'.repeat(400_000))),
    ]);
    const page = (from: number) => pageFrom(store.read, session.pk, from, 304);
    expect(await page(0)).toEqual({ to: 255, full: true });
    expect(await page(256)).toEqual({ to: 301, full: true });
    expect(await page(302)).toEqual({ to: 303, full: true });
    expect(await page(304)).toEqual({ to: 304, full: false });
    expect(await page(305)).toBeNull();
  });

  it('leaves system messages out of a batch', async () => {
    const { store, session } = await start(mixed);
    const rows = await conversationBetween(store.read, session.pk, 0, 4);
    expect(rows.map(({ position, group_start }) => [position, group_start])).toEqual([
      [0, 0],
      [1, 1],
      [2, 1],
    ]);
  });
});
