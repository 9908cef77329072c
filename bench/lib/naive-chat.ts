import Database from 'better-sqlite3';
import { SUMMARY } from './chat-sessions.js';
import { sampleMessage } from './sample-messages.js';

/** The way that one would write first: stores like the service, but loads and parses the whole session each time. */
export class NaiveChat {
  readonly #connection: Database.Database;
  readonly #open: number;

  /** @param open messages that are sent beside the system messages and the summary */
  constructor(path: string, open: number) {
    this.#open = open;
    this.#connection = new Database(path);
    this.#connection.pragma('journal_mode = WAL');
    this.#connection.pragma('synchronous = FULL');
    this.#connection.exec(
      'CREATE TABLE messages (session INTEGER, seq INTEGER, body TEXT, PRIMARY KEY (session, seq))',
    );
  }

  /** Makes a session of `size` messages what it was in the beginning; `size` is also its name. */
  restore(size: number): void {
    const { count } = this.#rows<{ count: number }>('SELECT count(*) AS count', size)[0] ?? { count: 0 };
    this.#connection.prepare('DELETE FROM messages WHERE session = ? AND seq >= ?').run(size, size);
    this.#connection.transaction(() => {
      for (let seq = count; seq < size; seq += 1) this.#insert(size, seq, sampleMessage(seq));
    })();
  }

  /** @param ask sends the context to the model */
  async turn(size: number, message: string, ask: (messages: readonly unknown[]) => Promise<void>) {
    const stored = this.#rows<{ body: string }>('SELECT body', size, 'ORDER BY seq');
    const question = { role: 'user', content: message };
    this.#insert(size, stored.length, question);
    const all: { role: string }[] = stored.map(({ body }) => JSON.parse(body));
    const system = all.filter(({ role }) => role === 'system');
    const rest = all.filter(({ role }) => role !== 'system');
    const summary = rest.length > this.#open ? [{ role: 'user', content: SUMMARY }] : [];
    await ask([...system, ...summary, ...rest.slice(-this.#open), question]);
    this.#insert(size, stored.length + 1, { role: 'assistant', content: message });
  }

  close(): void {
    this.#connection.close();
  }

  #rows<Row>(select: string, size: number, order = ''): Row[] {
    return this.#connection
      .prepare<[number], Row>(`${select} FROM messages WHERE session = ? ${order}`)
      .all(size);
  }

  #insert(size: number, seq: number, message: object): void {
    this.#connection.prepare('INSERT INTO messages VALUES (?, ?, ?)').run(size, seq, JSON.stringify(message));
  }
}
