import type { CopyConnection } from './connection.js';

/** Where leases are: table, owner, end, and what holds one. */
const LEASES = [
  ['sessions', 'lease_owner', 'lease_expires_at', 'compaction'],
  ['sessions', 'turn_owner', 'turn_expires_at', 'turn'],
  ['tasks', 'owner', 'lease_expires_at', 'task'],
  ['idempotency_keys', 'owner', 'lease_expires_at', 'request'],
] as const;

/** What a service is doing on the database at this moment, such as `2 turns`; nothing when no lease is alive. */
export async function workUnderWay(source: CopyConnection): Promise<string[]> {
  const found: string[] = [];
  for (const [table, owner, end, noun] of LEASES) {
    const [row] = await source.query(
      `SELECT count(*) FROM ${table} WHERE ${owner} IS NOT NULL AND ${end} > ${source.nowMs}`,
    );
    const count = Number(row?.[0]);
    if (count > 0) found.push(`${count} ${noun}${count === 1 ? '' : 's'}`);
  }
  return found;
}
