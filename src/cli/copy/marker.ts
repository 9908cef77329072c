import { type CopyConnection, CopyRefused, inTransaction } from './connection.js';
import { type Digest, EMPTY_DIGEST } from './digest.js';
import { COPY_TABLES, type CopyTable } from './tables.js';

/**
 * How far a copy has come, in the target itself: a table that is there until the copy has ended. Each page moves it
 * on in its own transaction, so that the two are never apart.
 */
const MARKER = 'compactd_copy';

export interface Copied extends Digest {
  /** Key of the last row that was copied; 0 before the first. */
  readonly key: number;
  /** The name of the database that it came from. */
  readonly source: string;
}

/**
 * What the target holds of a copy, by table; an empty target gets its marker now. Throws CopyRefused when it holds
 * anything else.
 */
export async function openMarker(target: CopyConnection, source: string): Promise<Map<string, Copied>> {
  if (!(await target.hasTable(MARKER))) await createMarker(target, source);
  const rows = await target.query(`SELECT name, key, row_count, sha256, source FROM ${MARKER}`);
  const copied = new Map(
    rows.map(([name, key, count, sha256, from]) => [
      String(name),
      { key: Number(key), rows: Number(count), sha256: String(sha256), source: String(from) },
    ]),
  );
  for (const { name } of COPY_TABLES) {
    const [row] = await target.query(`SELECT max(pk) FROM ${name}`);
    if (Number(row?.[0] ?? 0) === copied.get(name)?.key) continue;
    throw new CopyRefused(
      `${target.name} holds the beginning of a copy, but something else has written to its ${name} since. ` +
        'Start anew with an empty database.',
    );
  }
  return copied;
}

async function createMarker(target: CopyConnection, source: string): Promise<void> {
  await inTransaction(target, async () => {
    const full: string[] = [];
    for (const { name } of COPY_TABLES) {
      if ((await target.query(`SELECT 1 FROM ${name} LIMIT 1`)).length > 0) full.push(name);
    }
    if (full.length > 0) {
      throw new CopyRefused(
        `${target.name} is not empty: there are rows in ${full.join(', ')}, and they are of no copy that could go on. ` +
          'Copy into an empty database.',
      );
    }
    await target.query(
      `CREATE TABLE ${MARKER} (name text PRIMARY KEY, key bigint NOT NULL, row_count bigint NOT NULL,
       sha256 text NOT NULL, source text NOT NULL)`,
    );
    for (const { name } of COPY_TABLES) {
      const { rows, sha256 } = EMPTY_DIGEST;
      await target.query(`INSERT INTO ${MARKER} VALUES ($1, 0, $2, $3, $4)`, name, rows, sha256, source);
    }
  });
}

/** Moves the marker on, in the transaction of a page. Throws when another copy has moved it meanwhile. */
export async function moveMarker(
  target: CopyConnection,
  { name }: CopyTable,
  { from, to, digest }: { readonly from: number; readonly to: number; readonly digest: Digest },
): Promise<void> {
  const moved = await target.query(
    `UPDATE ${MARKER} SET key = $1, row_count = $2, sha256 = $3 WHERE name = $4 AND key = $5 RETURNING 1`,
    to,
    digest.rows,
    digest.sha256,
    name,
    from,
  );
  if (moved.length === 0) throw new CopyRefused(`Another copy into ${target.name} is under way`);
}

export async function removeMarker(target: CopyConnection): Promise<void> {
  await target.query(`DROP TABLE ${MARKER}`);
}
