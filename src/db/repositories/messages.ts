import { and, asc, desc, eq, gte, inArray, isNotNull, isNull, lte, sql } from 'drizzle-orm';
import { perDb } from '../per-db.js';
import type { Db } from '../store.js';
import type { MessageRow, Tables } from '../tables.js';

/** Messages as rows, by the session's internal key. Bodies are JSON text and leave as they came. */

export type NewMessage = Tables['messages']['$inferInsert'];

const statements = perDb(({ orm, tables: { messages } }) => {
  const ofSession = eq(messages.session_pk, sql.placeholder('session'));
  const fromSeq = gte(messages.seq, sql.placeholder('from'));
  return {
    insert: orm
      .insert(messages)
      .values({
        session_pk: sql.placeholder('session_pk'),
        id: sql.placeholder('id'),
        seq: sql.placeholder('seq'),
        position: sql.placeholder('position'),
        group_start: sql.placeholder('group_start'),
        running_total: sql.placeholder('running_total'),
        role: sql.placeholder('role'),
        tool_call_count: sql.placeholder('tool_call_count'),
        chars: sql.placeholder('chars'),
        text_bytes: sql.placeholder('text_bytes'),
        created_at: sql.placeholder('created_at'),
        body: sql.placeholder('body'),
      })
      .prepare(),
    // A position is at its own seq or later: later by the number of system messages before it, few as a rule.
    atPosition: orm
      .select({
        seq: messages.seq,
        position: messages.position,
        group_start: messages.group_start,
        running_total: messages.running_total,
        tool_call_count: messages.tool_call_count,
        role: messages.role,
      })
      .from(messages)
      .where(
        and(
          ofSession,
          gte(messages.seq, sql.placeholder('position')),
          eq(messages.position, sql.placeholder('position')),
        ),
      )
      .orderBy(asc(messages.seq))
      .limit(1)
      .prepare(),
    first: orm
      .select({ role: messages.role })
      .from(messages)
      .where(and(ofSession, fromSeq, isNotNull(messages.position)))
      .orderBy(asc(messages.seq))
      .limit(1)
      .prepare(),
    firstTurn: orm
      .select({ role: messages.role })
      .from(messages)
      .where(
        and(
          ofSession,
          fromSeq,
          inArray(messages.role, ['user', 'assistant']),
          eq(messages.tool_call_count, 0),
        ),
      )
      .orderBy(asc(messages.seq))
      .limit(1)
      .prepare(),
    system: orm
      .select({
        seq: messages.seq,
        body: messages.body,
        chars: messages.chars,
        text_bytes: messages.text_bytes,
      })
      .from(messages)
      .where(and(ofSession, isNull(messages.position)))
      .orderBy(asc(messages.seq))
      .prepare(),
    conversation: orm
      .select({ position: messages.position, group_start: messages.group_start, body: messages.body })
      .from(messages)
      .where(and(ofSession, fromSeq, lte(messages.seq, sql.placeholder('to')), isNotNull(messages.position)))
      .orderBy(asc(messages.seq))
      .prepare(),
  };
});

/** Inserts one message; the unique index on (session, seq) refuses a number given out twice. */
export async function insertMessage(db: Db, message: NewMessage): Promise<void> {
  await statements(db).insert.execute(message);
}

export type PlacedMessage = Pick<
  MessageRow,
  'seq' | 'position' | 'group_start' | 'running_total' | 'tool_call_count' | 'role'
>;

/** Where the conversation message at `position` stands; null when there is none. */
export async function messageAt(db: Db, sessionPk: number, position: number): Promise<PlacedMessage | null> {
  const [row] = await statements(db).atPosition.execute({ session: sessionPk, position });
  return row ?? null;
}

/** The conversation message at `position`, body included; null when there is none. */
export async function messageWithBody(db: Db, sessionPk: number, position: number) {
  const { messages } = db.tables;
  const placed = await messageAt(db, sessionPk, position);
  if (placed === null) return null;
  const [row] = await db.orm
    .select({ body: messages.body, chars: messages.chars, text_bytes: messages.text_bytes })
    .from(messages)
    .where(and(eq(messages.session_pk, sessionPk), eq(messages.seq, placed.seq)));
  return row ?? null;
}

/** Start of the tool group that a tool message appended now would belong to; null when it would be an orphan. */
export async function openGroupStart(
  db: Db,
  sessionPk: number,
  conversationCount: number,
): Promise<number | null> {
  const last = conversationCount === 0 ? null : await messageAt(db, sessionPk, conversationCount - 1);
  if (last === null || last.group_start === null) return null;
  const heads = last.role === 'assistant' && last.tool_call_count > 0;
  return heads || (last.role === 'tool' && last.group_start !== last.position) ? last.group_start : null;
}

/**
 * Roles of the first conversation message from `seq` on, and of the first that is a user message or an
 * assistant message without tool calls; null where there is none.
 */
export async function firstTailMessages(db: Db, sessionPk: number, seq: number) {
  const { first, firstTurn } = statements(db);
  const [message] = await first.execute({ session: sessionPk, from: seq });
  const [turn] = await firstTurn.execute({ session: sessionPk, from: seq });
  return { first: message?.role ?? null, firstTurn: turn?.role ?? null };
}

/** All system messages, in order. */
export async function systemMessages(db: Db, sessionPk: number) {
  return statements(db).system.execute({ session: sessionPk });
}

/** Conversation messages with `seq` in [from, to], bodies included: page the range by `pageEnd`. */
export async function conversationBetween(db: Db, sessionPk: number, from: number, to: number) {
  return statements(db).conversation.execute({ session: sessionPk, from, to });
}

export type ListedMessage = Pick<MessageRow, 'id' | 'seq' | 'position' | 'chars' | 'created_at' | 'body'>;

export interface MessageRange {
  /** Exclusive bounds on `seq`; null leaves that side open. */
  readonly after: number | null;
  readonly before: number | null;
  readonly order: 'asc' | 'desc';
}

/** `seq` and size in bytes of the messages in a range, at most `limit`, without reading their bodies. */
export async function messageSizes(db: Db, sessionPk: number, range: MessageRange, limit: number) {
  const { messages } = db.tables;
  return db.orm
    .select({ seq: messages.seq, bytes: db.byteLength(messages.body) })
    .from(messages)
    .where(inRange(db, sessionPk, range))
    .orderBy(range.order === 'asc' ? asc(messages.seq) : desc(messages.seq))
    .limit(limit);
}

/** The messages with `seq` in [from, to], in the given order. */
export async function messagesBetween(
  db: Db,
  sessionPk: number,
  from: number,
  to: number,
  order: MessageRange['order'],
): Promise<ListedMessage[]> {
  const { messages } = db.tables;
  const { id, seq, position, chars, created_at, body } = messages;
  return db.orm
    .select({ id, seq, position, chars, created_at, body })
    .from(messages)
    .where(and(eq(messages.session_pk, sessionPk), gte(messages.seq, from), lte(messages.seq, to)))
    .orderBy(order === 'asc' ? asc(seq) : desc(seq));
}

function inRange(db: Db, sessionPk: number, { after, before }: MessageRange) {
  const { messages } = db.tables;
  return and(
    eq(messages.session_pk, sessionPk),
    after === null ? undefined : sql`${messages.seq} > ${after}`,
    before === null ? undefined : sql`${messages.seq} < ${before}`,
  );
}
