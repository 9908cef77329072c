import { and, eq, gt, sql } from 'drizzle-orm';
import type { Db } from '../store.js';

/** What turns count on their session: tokens, and how automatic compaction went. */

/** Adds what a turn's model call used to the session's counts. */
export async function countTokens(
  db: Db,
  sessionPk: number,
  { input, output }: { readonly input: number; readonly output: number },
): Promise<void> {
  const { sessions } = db.tables;
  await db.orm
    .update(sessions)
    .set({
      input_tokens: sql`${sessions.input_tokens} + ${input}`,
      output_tokens: sql`${sessions.output_tokens} + ${output}`,
    })
    .where(eq(sessions.pk, sessionPk));
}

/** Remembers by how much the endpoint counted more than was estimated, at this revision of the session. */
export async function noteExcess(db: Db, sessionPk: number, tokens: number, revision: number): Promise<void> {
  const { sessions } = db.tables;
  await db.orm
    .update(sessions)
    .set({ token_excess: tokens, token_excess_revision: revision })
    .where(eq(sessions.pk, sessionPk));
}

/** Counts an automatic compaction that failed or gained nothing, with why; null begins the count anew. */
export async function noteAutoOutcome(db: Db, sessionPk: number, error: string | null): Promise<void> {
  const { sessions } = db.tables;
  await db.orm
    .update(sessions)
    .set(
      error === null
        ? { auto_failures: 0, auto_error: null, version: sql`${sessions.version} + 1` }
        : {
            auto_failures: sql`${sessions.auto_failures} + 1`,
            auto_error: error,
            version: sql`${sessions.version} + 1`,
          },
    )
    // What changes nothing that anybody sees leaves the version alone.
    .where(and(eq(sessions.pk, sessionPk), error === null ? gt(sessions.auto_failures, 0) : undefined));
}
