import { join } from 'node:path';
import { eq } from 'drizzle-orm';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { Store } from '../../src/db/store.js';
import { openSqliteStore } from '../../src/db/store.sqlite.js';
import { answerOnce } from '../../src/idempotency/answer-once.js';
import {
  answerClaim,
  findAnswer,
  type KeyedRequest,
  openClaim,
  placeClaim,
  releaseClaim,
  renewClaim,
} from '../../src/idempotency/claims.js';
import { temporaryFolder } from '../support/service.js';

const HOUR_MS = 3_600_000;
const request: KeyedRequest = { tenant: 'default', key: 'k', fingerprint: 'f' };
const answer = { status: 201, location: '/things/1', body: '{"id":1}' };

function openStore(): Store {
  const store = openSqliteStore(join(temporaryFolder(), 'keys.db'));
  onTestFinished(() => store.close());
  return store;
}

const open = (store: Store, owner: string, asked = request, leaseMs = 30_000) =>
  store.tx((db) => openClaim(db, asked, owner, leaseMs, 1_000));

/** Changes the one key's row, by the store's own clock: `ms` from now. */
const shift = (store: Store, column: 'expires_at' | 'lease_expires_at', ms: number) =>
  store.tx(async (db) => {
    await db.orm.update(db.tables.idempotency_keys).set({ [column]: Date.now() + ms });
  });

const rows = (store: Store) => store.read.orm.select().from(store.read.tables.idempotency_keys);

describe('a claim', () => {
  it('is fresh once, and gives its answer from then on', async () => {
    const store = openStore();
    expect(await open(store, 'a')).toEqual({ kind: 'fresh' });
    await store.tx((db) => answerClaim(db, request, 'a', answer));
    expect(await open(store, 'b')).toEqual({ kind: 'answered', answer });
    expect(await findAnswer(store.read, request)).toEqual(answer);
    const [row] = await rows(store);
    expect(row).toMatchObject({ status: 'answered', owner: null, lease_expires_at: null, created_at: 1_000 });
    expect(Math.abs((row?.expires_at ?? 0) - Date.now() - 24 * HOUR_MS)).toBeLessThan(5_000);
  });

  it('keeps the same request out while it is at work, and says for how long at most', async () => {
    const store = openStore();
    await open(store, 'a');
    const refused = {
      code: 'IDEMPOTENCY_KEY_IN_USE',
      status: 409,
      retryable: true,
      options: { retryAfterSeconds: 30 },
    };
    await expect(open(store, 'b')).rejects.toMatchObject(refused);
    await expect(findAnswer(store.read, request)).rejects.toMatchObject(refused);
    await shift(store, 'lease_expires_at', 1_500);
    await expect(open(store, 'b')).rejects.toMatchObject({ options: { retryAfterSeconds: 2 } });
  });

  it('is refused to another request, at work, released and answered', async () => {
    const store = openStore();
    const other = { ...request, fingerprint: 'g' };
    const reused = { code: 'IDEMPOTENCY_KEY_REUSED', status: 422, retryable: false };
    await open(store, 'a');
    await expect(open(store, 'b', other)).rejects.toMatchObject(reused);
    await store.tx((db) => releaseClaim(db, request, 'a'));
    await expect(open(store, 'b', other)).rejects.toMatchObject(reused);
    await open(store, 'a');
    await store.tx((db) => answerClaim(db, request, 'a', answer));
    await expect(open(store, 'b', other)).rejects.toMatchObject(reused);
    await expect(findAnswer(store.read, other)).rejects.toMatchObject(reused);
  });

  it('is one of its tenant', async () => {
    const store = openStore();
    await open(store, 'a');
    const elsewhere = { tenant: 'other', key: 'k', fingerprint: 'g' };
    expect(await open(store, 'b', elsewhere)).toEqual({ kind: 'fresh' });
    await store.tx((db) => answerClaim(db, elsewhere, 'b', answer));
    await expect(open(store, 'c')).rejects.toMatchObject({ code: 'IDEMPOTENCY_KEY_IN_USE' });
  });

  it('goes on where its message is once it was released', async () => {
    const store = openStore();
    await open(store, 'a');
    await store.tx((db) => placeClaim(db, request, 'a', { sessionPk: 7, position: 3 }));
    await store.tx((db) => releaseClaim(db, request, 'a'));
    expect(await findAnswer(store.read, request)).toBeNull();
    expect(await open(store, 'b')).toEqual({ kind: 'resumed', sessionPk: 7, position: 3 });
    await expect(open(store, 'c')).rejects.toMatchObject({ code: 'IDEMPOTENCY_KEY_IN_USE' });
  });

  it('is taken over once its lease has run out, and is lost to its first owner', async () => {
    const store = openStore();
    await open(store, 'dead');
    await shift(store, 'lease_expires_at', 0);
    expect(await findAnswer(store.read, request)).toBeNull();
    expect(await open(store, 'b')).toEqual({ kind: 'resumed', sessionPk: null, position: null });
    expect(await store.tx((db) => renewClaim(db, request, 'dead', 60_000))).toBe(false);
    await store.tx((db) => releaseClaim(db, request, 'dead'));
    const lost = { code: 'IDEMPOTENCY_KEY_IN_USE' };
    const place = { sessionPk: 1, position: 1 };
    await expect(store.tx((db) => placeClaim(db, request, 'dead', place))).rejects.toMatchObject(lost);
    await expect(store.tx((db) => answerClaim(db, request, 'dead', answer))).rejects.toMatchObject(lost);
    const [row] = await rows(store);
    expect(row).toMatchObject({ status: 'running', owner: 'b', session_pk: null, answer_body: null });
  });

  it('is kept by renewing it, the key with it', async () => {
    const store = openStore();
    await open(store, 'a', request, 1_000);
    await shift(store, 'expires_at', 10);
    expect(await store.tx((db) => renewClaim(db, request, 'a', 60_000))).toBe(true);
    await expect(open(store, 'b')).rejects.toMatchObject({ options: { retryAfterSeconds: 60 } });
    const [row] = await rows(store);
    expect(row?.expires_at).toBeGreaterThan(Date.now() + 23 * HOUR_MS);
  });

  it('is not answered twice', async () => {
    const store = openStore();
    await open(store, 'a');
    await store.tx((db) => answerClaim(db, request, 'a', answer));
    const second = store.tx((db) => answerClaim(db, request, 'a', { ...answer, body: '2' }));
    await expect(second).rejects.toMatchObject({ code: 'IDEMPOTENCY_KEY_IN_USE' });
    expect(await findAnswer(store.read, request)).toEqual(answer);
  });
});

describe('a key whose time is over', () => {
  it('is free for any request, and nothing of the old one is left', async () => {
    const store = openStore();
    await open(store, 'a');
    await store.tx((db) => placeClaim(db, request, 'a', { sessionPk: 7, position: 3 }));
    await store.tx((db) => answerClaim(db, request, 'a', answer));
    await shift(store, 'expires_at', 0);
    const other = { ...request, fingerprint: 'g' };
    expect(await findAnswer(store.read, other)).toBeNull();
    expect(await open(store, 'b', other)).toEqual({ kind: 'fresh' });
    const [row] = await rows(store);
    expect(row).toMatchObject({
      fingerprint: 'g',
      status: 'running',
      owner: 'b',
      session_pk: null,
      position: null,
      answer_status: null,
      answer_location: null,
      answer_body: null,
    });
  });

  it('is deleted by later keys, ten at a time, the oldest first', async () => {
    const store = openStore();
    const now = Date.now();
    await store.tx(async (db) => {
      for (let i = 0; i < 25; i += 1) {
        await openClaim(db, { ...request, key: `old-${i}` }, 'a', 1_000, i);
      }
      const { idempotency_keys: keys } = db.tables;
      for (const row of await db.orm.select().from(keys)) {
        await db.orm
          .update(keys)
          .set({ expires_at: now - 1_000 + row.created_at })
          .where(eq(keys.pk, row.pk));
      }
    });
    const left = async () => (await rows(store)).map(({ key }) => key);
    await open(store, 'a', { ...request, key: 'new-1' });
    expect(await left()).toEqual([...Array.from({ length: 15 }, (_, i) => `old-${i + 10}`), 'new-1']);
    await open(store, 'a', { ...request, key: 'new-2' });
    await open(store, 'a', { ...request, key: 'new-3' });
    expect(await left()).toEqual(['new-1', 'new-2', 'new-3']);
  });
});

describe('an effect with a key', () => {
  it('runs once, and its answer is given from then on', async () => {
    const store = openStore();
    let runs = 0;
    const once = () =>
      store.tx((db) =>
        answerOnce(db, request, 0, async () => {
          runs += 1;
          return { ...answer, body: `{"run":${runs}}` };
        }),
      );
    const answers = await Promise.all(Array.from({ length: 20 }, once));
    expect(runs).toBe(1);
    expect(answers.map(({ answer: { body } }) => body)).toEqual(Array(20).fill('{"run":1}'));
    expect(answers.filter(({ replayed }) => !replayed).length).toBe(1);
  });

  it('that throws takes its key back', async () => {
    const store = openStore();
    const failing = store.tx((db) =>
      answerOnce(db, request, 0, async () => {
        throw new RangeError('no');
      }),
    );
    await expect(failing).rejects.toThrow(new RangeError('no'));
    expect(await rows(store)).toEqual([]);
    const other = { ...request, fingerprint: 'g' };
    expect(await store.tx((db) => answerOnce(db, other, 0, async () => answer))).toEqual({
      answer,
      replayed: false,
    });
  });

  it('runs each time without a key', async () => {
    const store = openStore();
    let runs = 0;
    const effect = async () => {
      runs += 1;
      return answer;
    };
    await store.tx((db) => answerOnce(db, null, 0, effect));
    expect(await store.tx((db) => answerOnce(db, null, 0, effect))).toEqual({ answer, replayed: false });
    expect(runs).toBe(2);
    expect(await rows(store)).toEqual([]);
  });
});
