import pg from 'pg';
import type { Client } from './client.js';
import { marksIn } from './marks.js';

/** A message as it is read back. */
export interface Stored {
  readonly seq: number;
  readonly position: number | null;
  readonly role: string;
  /** Null for what has none, such as the error that stands for a result. */
  readonly mark: string | null;
  /** The calls of an assistant; the call that a result answers. */
  readonly callIds: readonly string[];
}

export interface StoredSession {
  readonly id: string;
  readonly messageCount: number;
  readonly conversationCount: number;
  readonly summary: string | null;
  readonly size: number;
  /** Position of a message below `size` that the summary does not cover. */
  readonly carried: number | null;
  readonly messages: readonly Stored[];
}

interface MessageBody {
  readonly role: string;
  readonly content: string;
  readonly tool_calls?: readonly { readonly id: string }[];
  readonly tool_call_id?: string;
}

interface Page {
  readonly data: readonly {
    readonly seq: number;
    readonly position: number | null;
    readonly message: MessageBody;
  }[];
  readonly has_more: boolean;
  readonly next_cursor: string | null;
}

/** Runs one statement on the database itself. */
export async function rowsOf<Row extends pg.QueryResultRow>(url: string, text: string): Promise<Row[]> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query<Row>(text)).rows;
  } finally {
    await client.end();
  }
}

/** All sessions: their messages as clients read them, the rest as it is in the database. */
export async function readSessions(databaseUrl: string, client: Client): Promise<StoredSession[]> {
  const rows = await rowsOf<Omit<StoredSession, 'messages'>>(
    databaseUrl,
    `SELECT id, message_count::int AS "messageCount", conversation_count::int AS "conversationCount",
       compact_summary AS summary, compact_size::int AS size, carried_position::int AS carried
     FROM sessions ORDER BY pk`,
  );
  const sessions: StoredSession[] = [];
  for (const row of rows) sessions.push({ ...row, messages: await readMessages(client, row.id) });
  return sessions;
}

async function readMessages(client: Client, sessionId: string): Promise<Stored[]> {
  const all: Stored[] = [];
  for (let after = ''; ; ) {
    const path = `/sessions/${sessionId}/messages?limit=200${after}`;
    const { answer } = await client.settle({ kind: 'final reads', method: 'GET', path });
    if (answer?.status !== 200) throw new Error(`${path} could not be read: ${answer?.text}`);
    const page: Page = JSON.parse(answer.text);
    for (const { seq, position, message } of page.data) {
      const { role, content, tool_calls = [], tool_call_id: answered } = message;
      const callIds = answered === undefined ? tool_calls.map(({ id }) => id) : [answered];
      all.push({ seq, position, role, mark: marksIn(content)[0] ?? null, callIds });
    }
    if (!page.has_more) return all;
    after = `&cursor=${page.next_cursor}`;
  }
}

export interface Place {
  readonly sessionId: string;
  readonly seq: number;
  readonly role: string;
}

/** The places of marks in all sessions. */
export class Places {
  readonly #of = new Map<string, Place[]>();

  constructor(sessions: readonly StoredSession[]) {
    for (const { id: sessionId, messages } of sessions) {
      for (const { mark, seq, role } of messages) {
        if (mark !== null) this.#of.set(mark, [...this.of(mark), { sessionId, seq, role }]);
      }
    }
  }

  of(mark: string): readonly Place[] {
    return this.#of.get(mark) ?? [];
  }

  /** In the session, once at most; null when it is not there. */
  seqIn(sessionId: string, mark: string): number | null {
    return this.of(mark).find((place) => place.sessionId === sessionId)?.seq ?? null;
  }

  get marks(): Iterable<string> {
    return this.#of.keys();
  }
}
