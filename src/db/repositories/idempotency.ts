import { and, asc, eq, inArray, lte, ne, or, type SQL, sql } from 'drizzle-orm';
import { perDb } from '../per-db.js';
import type { Db } from '../store.js';
import type { IdempotencyRow } from '../tables.js';

/**
 * Idempotency keys as rows. Their leases and their end go by the store's clock alone, so that processes with
 * different clocks agree on them.
 */

/** How long a key is kept after it was last worked on, in ms. */
export const KEY_KEPT_MS = 24 * 3_600_000;
/** Expired keys that one new key may take away with it: more than one, so that a backlog shrinks. */
const PURGED_AT_ONCE = 10;

export interface KeyName {
  readonly tenant: string;
  readonly key: string;
}

const statements = perDb(({ orm, nowMs, tables: { idempotency_keys: keys }, lockedUnlessTaken }) => {
  const named = and(eq(keys.tenant, sql.placeholder('tenant')), eq(keys.key, sql.placeholder('key')));
  const held = and(named, eq(keys.owner, sql.placeholder('owner')), eq(keys.status, 'running'));
  const leaseEnd = sql`${nowMs} + ${sql.placeholder('leaseMs')}`;
  const keptUntil = sql`${nowMs} + ${KEY_KEPT_MS}`;
  const begun = {
    fingerprint: sql`${sql.placeholder('fingerprint')}`,
    status: sql`'running'`,
    owner: sql`${sql.placeholder('owner')}`,
    lease_expires_at: leaseEnd,
    created_at: sql`${sql.placeholder('now')}`,
    expires_at: keptUntil,
  };
  const nothing = { session_pk: null, position: null, answer_status: null };
  return {
    take: orm
      .insert(keys)
      .values({ tenant: sql.placeholder('tenant'), key: sql.placeholder('key'), ...begun })
      .onConflictDoUpdate({
        target: [keys.tenant, keys.key],
        set: { ...begun, ...nothing, answer_location: null, answer_body: null },
        setWhere: lte(keys.expires_at, nowMs),
      })
      .returning({ pk: keys.pk })
      .prepare(),
    find: orm
      .select({
        pk: keys.pk,
        fingerprint: keys.fingerprint,
        status: keys.status,
        session_pk: keys.session_pk,
        position: keys.position,
        answer_status: keys.answer_status,
        answer_location: keys.answer_location,
        answer_body: keys.answer_body,
        lease_rest: sql<number>`coalesce(${keys.lease_expires_at} - ${nowMs}, 0)`,
        kept_rest: sql<number>`${keys.expires_at} - ${nowMs}`,
      })
      .from(keys)
      .where(named)
      .prepare(),
    answer: orm
      .update(keys)
      .set({
        status: 'answered',
        owner: null,
        lease_expires_at: null,
        answer_status: sql`${sql.placeholder('status')}`,
        answer_location: sql`${sql.placeholder('location')}`,
        answer_body: sql`${sql.placeholder('body')}`,
        expires_at: keptUntil,
      })
      .where(held)
      .returning({ pk: keys.pk })
      .prepare(),
    purge: orm
      .delete(keys)
      .where(
        inArray(
          keys.pk,
          // Those that another transaction is taking away are no reason to wait.
          lockedUnlessTaken(
            orm
              .select({ pk: keys.pk })
              .from(keys)
              .where(lte(keys.expires_at, nowMs))
              .orderBy(asc(keys.expires_at))
              .limit(PURGED_AT_ONCE),
          ),
        ),
      )
      .prepare(),
  };
});

/**
 * Makes the key this owner's if nobody has it, or its time is over; false when somebody has. One statement, so
 * that of two transactions at once the second waits for the first and then loses.
 */
export async function takeKey(
  db: Db,
  name: KeyName,
  work: { readonly fingerprint: string; readonly owner: string; readonly leaseMs: number },
  nowMs: number,
): Promise<boolean> {
  const { fingerprint, owner, leaseMs } = work;
  const { tenant, key } = name;
  const rows = await statements(db).take.execute({ tenant, key, fingerprint, owner, leaseMs, now: nowMs });
  return rows.length > 0;
}

/** A key, with the ms that its lease and the key itself still last; 0 or less when they are over. */
export type FoundKey = Pick<
  IdempotencyRow,
  | 'pk'
  | 'fingerprint'
  | 'status'
  | 'session_pk'
  | 'position'
  | 'answer_status'
  | 'answer_location'
  | 'answer_body'
> & { readonly lease_rest: number; readonly kept_rest: number };

export async function findKey(db: Db, { tenant, key }: KeyName): Promise<FoundKey | null> {
  const [row] = await statements(db).find.execute({ tenant, key });
  return row ?? null;
}

/** Takes over a key whose work ended without an answer, or whose owner's lease ran out; false when it did not. */
export async function retakeKey(db: Db, pk: number, owner: string, leaseMs: number): Promise<boolean> {
  const { idempotency_keys: keys } = db.tables;
  const left = or(eq(keys.status, 'released'), lte(keys.lease_expires_at, db.nowMs));
  return changed(db, and(eq(keys.pk, pk), ne(keys.status, 'answered'), left), {
    status: 'running',
    owner,
    ...lasting(db, leaseMs),
  });
}

/** Puts off the end of the owner's lease; false when another has taken the key over. */
export function renewKey(db: Db, name: KeyName, owner: string, leaseMs: number): Promise<boolean> {
  return changed(db, ownedBy(db, name, owner), lasting(db, leaseMs));
}

/** Notes which session and message the work is on; false when another has taken the key over. */
export function placeKey(
  db: Db,
  name: KeyName,
  owner: string,
  place: { readonly sessionPk: number; readonly position: number },
): Promise<boolean> {
  const { sessionPk: session_pk, position } = place;
  return changed(db, ownedBy(db, name, owner), { session_pk, position });
}

/** Ends the work with its answer, kept from now on; false when another has taken the key over. */
export async function answerKey(
  db: Db,
  { tenant, key }: KeyName,
  owner: string,
  answer: { readonly status: number; readonly location: string | null; readonly body: string },
): Promise<boolean> {
  const { status, location, body } = answer;
  const rows = await statements(db).answer.execute({ tenant, key, owner, status, location, body });
  return rows.length > 0;
}

/** Ends the work without an answer; does nothing when another has taken the key over. */
export async function releaseKey(db: Db, name: KeyName, owner: string): Promise<void> {
  await changed(db, ownedBy(db, name, owner), { status: 'released', owner: null, lease_expires_at: null });
}

/** Deletes some keys whose time is over, the oldest first. */
export async function purgeKeys(db: Db): Promise<void> {
  await statements(db).purge.execute();
}

function ownedBy(db: Db, { tenant, key }: KeyName, owner: string) {
  const { idempotency_keys: keys } = db.tables;
  return and(eq(keys.tenant, tenant), eq(keys.key, key), eq(keys.owner, owner), eq(keys.status, 'running'));
}

function lasting(db: Db, leaseMs: number) {
  return {
    lease_expires_at: sql`${db.nowMs} + ${leaseMs}`,
    expires_at: sql`${db.nowMs} + ${KEY_KEPT_MS}`,
  };
}

type KeyChange = { readonly [Field in keyof IdempotencyRow]?: IdempotencyRow[Field] | SQL };

async function changed(db: Db, where: ReturnType<typeof and>, fields: KeyChange): Promise<boolean> {
  const { idempotency_keys: keys } = db.tables;
  const rows = await db.orm.update(keys).set(fields).where(where).returning({ pk: keys.pk });
  return rows.length > 0;
}
