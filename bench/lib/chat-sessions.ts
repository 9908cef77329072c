import Database from 'better-sqlite3';

/**
 * Takes back what chat turns added to a session, and leaves `open` of its conversation messages open, under a
 * summary where that is fewer than all. Raises the revision, so that what a running server remembers is void.
 *
 * @param size messages that the session began with, system messages included
 */
export function restoreSession(path: string, id: string, size: number, open: number): void {
  const connection = new Database(path, { timeout: 5_000, fileMustExist: true });
  try {
    connection.transaction(() => {
      const { pk }: { pk: number } = row(connection, 'SELECT pk FROM sessions WHERE id = ?', id);
      connection.prepare('DELETE FROM messages WHERE session_pk = ? AND seq >= ?').run(pk, size);
      const { total, count }: { total: number; count: number } = row(
        connection,
        `SELECT running_total AS total, position + 1 AS count FROM messages
         WHERE session_pk = ? ORDER BY seq DESC LIMIT 1`,
        pk,
      );
      const folded = Math.max(0, count - open);
      connection
        .prepare(
          `UPDATE sessions SET message_count = ?, conversation_count = ?, total_chars = ?, compact_size = ?,
             compact_summary = ?, revision = revision + 1, current_compaction_id = NULL, turn_owner = NULL,
             turn_expires_at = NULL, turn_position = NULL, token_excess = NULL WHERE pk = ?`,
        )
        .run(size, count, total, folded, folded === 0 ? null : SUMMARY, pk);
    })();
  } finally {
    connection.close();
  }
}

/** 1,770 chars. */
export const SUMMARY = 'The crew booked berths, checked manifests and moved cargo. '.repeat(30);

function row<Row>(connection: Database.Database, sql: string, parameter: string | number): Row {
  const found = connection.prepare<[string | number], Row>(sql).get(parameter);
  if (found === undefined) throw new Error(`there is no session ${parameter}`);
  return found;
}
