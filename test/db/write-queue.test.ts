import { join } from 'node:path';
import { eq, sql } from 'drizzle-orm';
import { describe, expect, it, onTestFinished } from 'vitest';
import { migrationsFolder } from '../../src/db/migrations.js';
import { asDb, type Connection, openReader, openWriter } from '../../src/db/sqlite/connection.js';
import { migrate } from '../../src/db/sqlite/migrate.js';
import { WriteQueue } from '../../src/db/sqlite/write-queue.js';
import type { Db } from '../../src/db/store.js';
import { temporaryFolder } from '../support/service.js';

/** A queue over a database with a table of one column, and ways to look at it from outside. */
function openQueue() {
  const file = join(temporaryFolder(), 'queue.db');
  const connection = openWriter(file);
  migrate(connection, migrationsFolder('sqlite'));
  const queue = new WriteQueue(connection, asDb(connection));
  const outside = openReader(file);
  onTestFinished(async () => {
    await queue.close();
    outside.close();
    connection.close();
  });
  const titles = (from: Connection = outside) =>
    from.prepare('SELECT title FROM sessions ORDER BY pk').pluck().all();
  return { file, connection, queue, titles };
}

const add = (title: string) => async (db: Db) => {
  await db.orm.insert(db.tables.sessions).values({
    tenant: 't',
    id: title,
    title,
    kind: 'manual',
    status: 'open',
    message_count: 0,
    conversation_count: 0,
    total_chars: 0,
    input_tokens: 0,
    output_tokens: 0,
    revision: 0,
    version: 1,
    created_at: 0,
    updated_at: 0,
  });
  return title;
};

describe('the write queue', () => {
  it('runs callbacks one after another, in order, in one transaction, and settles after the commit', async () => {
    const { queue, titles } = openQueue();
    const seenOutside: unknown[][] = [];
    const settled = await Promise.all(
      ['a', 'b', 'c'].map((title) =>
        queue.enqueue(async (db) => {
          const done = await add(title)(db);
          seenOutside.push(titles());
          return done;
        }),
      ),
    );
    expect(settled).toEqual(['a', 'b', 'c']);
    expect(seenOutside).toEqual([[], [], []]);
    expect(titles()).toEqual(['a', 'b', 'c']);
  });

  it('takes back only the writes of a callback that fails', async () => {
    const { queue, titles } = openQueue();
    const failing = async (db: Db) => {
      await add('b')(db);
      throw new Error('changed my mind');
    };
    const results = await Promise.allSettled([
      queue.enqueue(add('a')),
      queue.enqueue(failing),
      queue.enqueue(add('c')),
    ]);
    expect(results.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
    expect(results[1]).toMatchObject({ reason: { message: 'changed my mind' } });
    expect(titles()).toEqual(['a', 'c']);
  });

  it('survives a callback that breaks a constraint', async () => {
    const { queue, titles } = openQueue();
    await queue.enqueue(add('a'));
    await expect(queue.enqueue(add('a'))).rejects.toThrow(/UNIQUE/);
    await queue.enqueue(add('b'));
    expect(titles()).toEqual(['a', 'b']);
  });

  it('lets each callback read what the one before it wrote: no update is lost', async () => {
    const { queue, titles } = openQueue();
    await queue.enqueue(add('0'));
    const increment = async (db: Db) => {
      const { sessions } = db.tables;
      const [row] = await db.orm.select({ title: sessions.title }).from(sessions);
      await db.orm
        .update(sessions)
        .set({ title: String(Number(row?.title) + 1) })
        .where(eq(sessions.pk, 1));
    };
    await Promise.all(Array.from({ length: 600 }, () => queue.enqueue(increment)));
    expect(titles()).toEqual(['600']);
  });

  it('fails the whole group, retryably, when the database is full, and works again afterwards', async () => {
    const { connection, queue, titles } = openQueue();
    await queue.enqueue(add('a'));
    const pages = Number(connection.pragma('page_count', { simple: true }));
    connection.pragma(`max_page_count = ${pages}`);
    const big = async (db: Db) => {
      await add('big')(db);
      await db.orm
        .update(db.tables.sessions)
        .set({ title: 'x'.repeat(1_000_000) })
        .where(sql`id = 'big'`);
    };
    const results = await Promise.allSettled([queue.enqueue(add('b')), queue.enqueue(big)]);
    for (const result of results) {
      if (result.status === 'fulfilled') continue;
      expect(result.reason).toMatchObject({ code: 'STORE_UNAVAILABLE', retryable: true });
    }
    expect(results[1]?.status).toBe('rejected');
    connection.pragma('max_page_count = 1000000');
    await queue.enqueue(add('c'));
    const told = results[0]?.status === 'fulfilled' ? ['a', 'b', 'c'] : ['a', 'c'];
    expect(titles()).toEqual(told);
  });

  it('waits for another process without blocking, then goes on', async () => {
    const { file, queue, titles } = openQueue();
    const other = openWriter(file);
    onTestFinished(() => {
      other.close();
    });
    other.exec('BEGIN IMMEDIATE');
    const write = queue.enqueue(add('a'));
    let turned = 0;
    const timer = setInterval(() => {
      turned += 1;
    }, 5);
    await new Promise((resolve) => setTimeout(resolve, 300));
    clearInterval(timer);
    expect(titles()).toEqual([]);
    other.exec('COMMIT');
    expect(await write).toBe('a');
    expect(turned).toBeGreaterThan(5);
  });

  it('refuses what comes after closing, and finishes what came before', async () => {
    const { queue, titles } = openQueue();
    const before = queue.enqueue(add('a'));
    const closing = queue.close();
    await expect(queue.enqueue(add('b'))).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE' });
    await closing;
    expect(await before).toBe('a');
    expect(titles()).toEqual(['a']);
  });
});
