import Database from 'better-sqlite3';
import { built } from './built.js';
import { sampleMessage } from './sample-messages.js';

/** Session lengths that are compared, in messages; two of each are system messages. */
export const SIZES = [100, 1_000, 10_000, 100_000] as const;
export type Size = (typeof SIZES)[number];

export const TENANT = 'default';
const SYSTEM_MESSAGES = 2;
const BATCH = 1_000;
const SUMMARY = 'The crew booked berths, checked manifests and moved cargo. '.repeat(30);

export function sessionId(size: Size): string {
  return `bench-${size}`;
}

/** A new database with one session of each size, everything open, written by the service itself. */
export async function createDataset(path: string): Promise<void> {
  const { openSqliteStore } =
    await built<typeof import('../../src/db/store.sqlite.js')>('db/store.sqlite.js');
  const { SessionService } = await built<typeof import('../../src/sessions/session-service.js')>(
    'sessions/session-service.js',
  );
  const store = openSqliteStore(path);
  try {
    const sessions = new SessionService({
      store,
      clock: Date.now,
      percentOf: async () => null,
      onRemoved: () => {},
      onReset: async () => {},
    });
    for (const size of SIZES) {
      const id = sessionId(size);
      await sessions.create(TENANT, {
        id,
        agent: null,
        title: null,
        compactCount: null,
        metadata: null,
        messages: [],
      });
      for (let seq = 0; seq < size; seq += BATCH) {
        const messages = Array.from({ length: Math.min(BATCH, size - seq) }, (_, index) => {
          const message = sampleMessage(seq + index);
          return { message, json: JSON.stringify(message) };
        });
        await sessions.append(TENANT, id, messages);
      }
    }
  } finally {
    await store.close();
  }
}

/**
 * Leaves the newest `open` conversation messages of a session open, as a compaction would; null opens all.
 * Like one, it raises the revision, so that what a server remembers of the session is void. Works beside a
 * server that is running.
 */
export function setOpenMessages(path: string, size: Size, open: number | null): void {
  const connection = new Database(path, { timeout: 5_000, fileMustExist: true });
  try {
    connection
      .prepare(
        `UPDATE sessions SET compact_size = ?, compact_summary = ?, revision = revision + 1,
           current_compaction_id = NULL, lease_owner = NULL, lease_expires_at = NULL WHERE id = ?`,
      )
      .run(
        open === null ? 0 : size - SYSTEM_MESSAGES - open,
        open === null ? null : SUMMARY,
        sessionId(size),
      );
  } finally {
    connection.close();
  }
}
