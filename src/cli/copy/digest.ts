import { createHash } from 'node:crypto';
import type { Row } from './tables.js';

/** What stands for the rows of a table up to a key. */
export interface Digest {
  readonly rows: number;
  /** SHA-256 in hex over the rows in the order of their keys: each a JSON list of its values and a line feed. */
  readonly sha256: string;
}

export const EMPTY_DIGEST: Digest = { rows: 0, sha256: createHash('sha256').digest('hex') };

/** Digests a table as its rows go by. */
export class RunningDigest {
  readonly #hash = createHash('sha256');
  #rows = 0;

  /** Gives the bytes that were digested. */
  add(rows: readonly Row[]): number {
    const text = Buffer.from(rows.map((row) => `${JSON.stringify(row)}\n`).join(''));
    this.#hash.update(text);
    this.#rows += rows.length;
    return text.length;
  }

  /** Of all so far; more may come after. */
  now(): Digest {
    return { rows: this.#rows, sha256: this.#hash.copy().digest('hex') };
  }
}

export function isSame(a: Digest, b: Digest): boolean {
  return a.rows === b.rows && a.sha256 === b.sha256;
}
