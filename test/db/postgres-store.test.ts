import { setTimeout as sleep } from 'node:timers/promises';
import { eq, sql } from 'drizzle-orm';
import pg from 'pg';
import { describe, expect, it, onTestFinished } from 'vitest';
import { POSTGRES_DEFAULTS, type PostgresSettings } from '../../src/db/postgres/settings.js';
import { findSession, insertSession } from '../../src/db/repositories/sessions.js';
import type { Db, Store } from '../../src/db/store.js';
import { openPostgresStore } from '../../src/db/store.postgres.js';
import { AppError } from '../../src/errors.js';
import { createSession } from '../../src/sessions/new-session.js';
import { freshDatabase } from '../support/postgres.js';
import { postgresSql } from '../support/sql.js';

const FIELDS = { tenant: 't', kind: 'manual', agent: null, compactCount: null } as const;

async function start(
  settings: Partial<PostgresSettings> = {},
): Promise<{ store: Store; url: string; lost: Error[] }> {
  const url = await freshDatabase();
  const lost: Error[] = [];
  const store = openPostgresStore(url, { ...POSTGRES_DEFAULTS, ...settings }, (error) => lost.push(error));
  onTestFinished(() => store.close());
  for (const id of ['a', 'b']) await store.tx((db) => createSession(db, { ...FIELDS, id }, 1));
  return { store, url, lost };
}

const setTitle = (db: Db, id: string, title: string) =>
  db.orm.update(db.tables.sessions).set({ title }).where(eq(db.tables.sessions.id, id));
const titleOf = async (store: Store, id: string) => (await findSession(store.read, 't', id))?.title;
const failureOf = (work: Promise<unknown>) =>
  work.then(
    () => null,
    (error: unknown) => error,
  );

/** Ends every other connection to the database, as an operator or a restart of the server does. */
const endConnections = (url: string) =>
  postgresSql(
    url,
    'SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()',
    [],
  );

describe('writing transactions on PostgreSQL', () => {
  it('wait for each other where they lock what they read', async () => {
    const { store } = await start();
    const add = () =>
      store.tx(async (db) => {
        const session = await findSession(db, 't', 'a');
        await sleep(1);
        await setTitle(db, 'a', String(Number(session?.title ?? 0) + 1));
      });
    await Promise.all(Array.from({ length: 40 }, add));
    expect(await titleOf(store, 'a')).toBe('40');
  });

  it('do not wait for what others lock elsewhere', async () => {
    const { store } = await start();
    const order: string[] = [];
    await store.tx(async (db) => {
      await findSession(db, 't', 'a');
      await store.tx((other) => setTitle(other, 'b', 'other'));
      order.push('other');
      await setTitle(db, 'a', 'this');
    });
    order.push('this');
    expect(order).toEqual(['other', 'this']);
  });

  it('run again when two wait for each other, and both come to their end', async () => {
    const { store } = await start();
    const runs = { ab: 0, ba: 0 };
    const cross = (first: string, second: string, name: 'ab' | 'ba') =>
      store.tx(async (db) => {
        runs[name] += 1;
        await setTitle(db, first, name);
        await sleep(50);
        await setTitle(db, second, name);
        return name;
      });
    expect(await Promise.all([cross('a', 'b', 'ab'), cross('b', 'a', 'ba')])).toEqual(['ab', 'ba']);
    expect(runs.ab + runs.ba).toBe(3);
    expect(await titleOf(store, 'a')).toBe(await titleOf(store, 'b'));
  });

  it('hold a name against each other', async () => {
    const { store } = await start();
    const order: number[] = [];
    await Promise.all(
      [1, 2, 3, 4].map((n) =>
        store.tx(async (db) => {
          await db.lock('something');
          order.push(n);
          await sleep(10);
          order.push(n);
        }),
      ),
    );
    for (let i = 0; i < order.length; i += 2) expect(order[i + 1]).toBe(order[i]);
  });

  it('are undone as a whole, and say so, when a failed statement was passed over', async () => {
    const { store } = await start();
    const failure = await failureOf(
      store.tx(async (db) => {
        await setTitle(db, 'a', 'lost');
        await createSession(db, { ...FIELDS, id: 'b' }, 1).catch(() => {});
      }),
    );
    expect(String(failure)).toContain('the transaction was undone');
    expect(await titleOf(store, 'a')).toBeNull();
  });

  it('show neither statement nor values in the message of an error', async () => {
    const { store } = await start();
    const session = await findSession(store.read, 't', 'a');
    if (session === null) throw new Error('no session');
    const taken = { ...session, pk: undefined, title: 'a secret' };
    const failure = await failureOf(store.tx((db) => insertSession(db, taken)));
    expect(store.isUniqueViolation(failure)).toBe(true);
    expect(String(failure)).not.toContain('secret');
    expect(String(failure)).not.toContain('insert');
  });
});

describe('trouble with the server', () => {
  const unavailable = (why: RegExp) => ({
    code: 'STORE_UNAVAILABLE',
    status: 503,
    message: expect.stringMatching(why),
  });

  it('ends what is at work with an error that may pass, and nothing else', async () => {
    const { store, url } = await start();
    const inWrite = store.tx(async (db) => {
      await setTitle(db, 'a', 'gone');
      endConnections(url);
      await sleep(20);
      await setTitle(db, 'a', 'gone');
    });
    await expect(inWrite).rejects.toMatchObject(
      unavailable(/SQLSTATE 57P01|the connection failed|no connection/),
    );
    const inSnapshot = store.snapshot(async (db) => {
      await findSession(db, 't', 'a');
      endConnections(url);
      return findSession(db, 't', 'a');
    });
    await expect(inSnapshot).rejects.toMatchObject(unavailable(/./));
    expect(await titleOf(store, 'a')).toBeNull();
    await store.tx((db) => setTitle(db, 'a', 'back'));
    expect(await titleOf(store, 'a')).toBe('back');
  });

  it('is told of where idle connections broke, and the next use connects again', async () => {
    const { store, url, lost } = await start();
    await Promise.all([1, 2, 3].map(() => store.snapshot((db) => findSession(db, 't', 'a'))));
    endConnections(url);
    await sleep(50);
    expect(lost.length).toBeGreaterThan(0);
    await store.ping();
    expect(await titleOf(store, 'a')).toBeNull();
  });

  it('is said when a lock is held for too long', async () => {
    const { store } = await start({ lockTimeoutMs: 50 });
    const failure = await store.tx(async (db) => {
      await setTitle(db, 'a', 'held');
      return failureOf(store.tx((other) => setTitle(other, 'a', 'other')));
    });
    expect(failure).toBeInstanceOf(AppError);
    expect(failure).toMatchObject(unavailable(/a lock was held for too long/));
    expect(await titleOf(store, 'a')).toBe('held');
  });

  it('is said when a statement takes too long', async () => {
    const { store } = await start({ statementTimeoutMs: 50 });
    const slow = store.tx((db) => db.orm.select({ slept: sql`pg_sleep(5)` }).from(db.tables.sessions));
    await expect(slow).rejects.toMatchObject(unavailable(/a statement took too long/));
  });

  it('frees the locks of a process that is paused within a transaction', async () => {
    const { store } = await start({ idleTransactionTimeoutMs: 100 });
    const paused = store.tx(async (db) => {
      await setTitle(db, 'a', 'paused');
      await sleep(400);
    });
    await sleep(20);
    await store.tx((db) => setTitle(db, 'a', 'other'));
    await expect(paused).rejects.toMatchObject(unavailable(/./));
    expect(await titleOf(store, 'a')).toBe('other');
  });

  it('is said when no connection is free in time', async () => {
    const { store } = await start({ poolSize: 2, connectTimeoutMs: 100 });
    const hold = () => store.snapshot(() => sleep(400));
    const held = [hold(), hold()];
    await sleep(20);
    await expect(store.ping()).rejects.toMatchObject(unavailable(/no connection is free/));
    await Promise.all(held);
    await store.ping();
  });

  it('keeps no cached plan that a migration has made useless', async () => {
    const { store, url } = await start();
    for (let i = 0; i < 3; i += 1) await store.tx((db) => findSession(db, 't', 'a'));
    postgresSql(url, 'ALTER TABLE sessions ALTER COLUMN title TYPE varchar(99)', []);
    const found = await Promise.all(
      Array.from({ length: 20 }, () => store.tx((db) => findSession(db, 't', 'a'))),
    );
    expect(found.map((session) => session?.id)).toEqual(Array.from({ length: 20 }, () => 'a'));
  });

  it('is all that a store knows once it is closed', async () => {
    const { store } = await start();
    await store.close();
    await store.close();
    await expect(store.ping()).rejects.toMatchObject(unavailable(/no connection/));
    await expect(store.tx(async () => 1)).rejects.toMatchObject(unavailable(/no connection/));
  });
});

describe('behind a pooler that gives each transaction another connection', () => {
  it('uses neither named statements nor settings of the connection, and keeps its limits', async () => {
    const { store } = await start({ transactionPooler: true, lockTimeoutMs: 1_234, poolSize: 1 });
    await store.tx(async (db) => {
      await findSession(db, 't', 'a');
      const [row] = await db.orm
        .select({
          limit: sql<string>`current_setting('lock_timeout')`,
          names: sql<number>`(SELECT count(*) FROM pg_prepared_statements)`,
        })
        .from(db.tables.sessions)
        .limit(1);
      expect(row).toEqual({ limit: '1234ms', names: 0 });
    });
    const [after] = await store.read.orm
      .select({ limit: sql<string>`current_setting('lock_timeout')` })
      .from(store.read.tables.sessions)
      .limit(1);
    expect(after).toEqual({ limit: '0' });
  });

  it('is what named statements are for otherwise: parsed once for each connection', async () => {
    const { store, url } = await start({ poolSize: 1 });
    for (let i = 0; i < 5; i += 1) await store.tx((db) => findSession(db, 't', 'a'));
    const [row] = await store.read.orm
      .select({
        names: sql<number>`(SELECT count(*) FROM pg_prepared_statements WHERE statement LIKE '%for no key update')`,
      })
      .from(store.read.tables.sessions)
      .limit(1);
    expect(row).toEqual({ names: 1 });
    expect(url).toContain('postgres://');
  });
});

describe('news between processes', () => {
  const eventually = async (check: () => boolean) => {
    for (let i = 0; i < 300 && !check(); i += 1) await sleep(10);
    expect(check()).toBe(true);
  };

  it('reach the others in order, also after the server was away, and not the process itself', async () => {
    const { store, url } = await start();
    const other = openPostgresStore(url, POSTGRES_DEFAULTS, () => {});
    onTestFinished(() => other.close());
    const heard: string[] = [];
    const own: string[] = [];
    const leave = other.news.subscribe((text) => heard.push(text));
    store.news.subscribe((text) => own.push(text));
    await eventually(() => {
      store.news.publish('hello');
      return heard.includes('hello');
    });
    heard.length = 0;
    const many = Array.from({ length: 1_000 }, (_, i) => `task ${i}`);
    for (const text of many) store.news.publish(text);
    await eventually(() => heard.includes('task 999'));
    expect(heard.filter((text) => text !== 'hello')).toEqual(many);

    endConnections(url);
    await eventually(() => {
      store.news.publish('back');
      return heard.includes('back');
    });
    leave();
    store.news.publish('unheard');
    await sleep(100);
    expect(heard).not.toContain('unheard');
    expect(own).toEqual([]);
  });
});

describe('numbers of PostgreSQL', () => {
  it('come as numbers, sums and counts of 64 bits too', async () => {
    const { store } = await start();
    const big = 2 ** 53 - 1;
    await store.tx((db) => db.orm.update(db.tables.sessions).set({ total_chars: big }));
    const { sessions } = store.read.tables;
    const [row] = await store.read.orm
      .select({
        most: sql<number>`max(${sessions.total_chars})`,
        count: sql<number>`count(*)`,
        sum: sql<number>`sum(${sessions.total_chars})`,
        now: store.read.nowMs,
      })
      .from(sessions);
    expect(row).toMatchObject({ most: big, count: 2, sum: 2 * big });
    expect(Math.abs((row?.now ?? 0) - Date.now())).toBeLessThan(5_000);
    expect(pg.types.getTypeParser(pg.types.builtins.INT8)('7')).toBe('7');
  });
});
