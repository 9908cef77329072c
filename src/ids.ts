import { randomBytes } from 'node:crypto';

const ALPHABET = '0123456789abcdefghjkmnpqrstvwxyz';
const TIME_CHARS = 9;
const RANDOM_CHARS = 14;

export type IdPrefix = 'sess' | 'msg' | 'cmp' | 'task';

/**
 * A new id: the prefix, the time in ms (9 chars, so that ids sort roughly by age), and 70 random bits.
 * Never used to order anything: clocks step back.
 */
export function newId(prefix: IdPrefix, nowMs: number): string {
  let time = '';
  for (let rest = nowMs, i = 0; i < TIME_CHARS; i += 1, rest = Math.floor(rest / 32)) {
    time = ALPHABET.charAt(rest % 32) + time;
  }
  let random = '';
  for (const byte of randomChunk(RANDOM_CHARS)) random += ALPHABET.charAt(byte % 32);
  return `${prefix}_${time}${random}`;
}

let pool = randomBytes(0);

/** Random bytes, taken from a pool: asking the system for a few each time costs more than an append may. */
function randomChunk(size: number): Uint8Array {
  if (pool.length < size) pool = randomBytes(8_192);
  const chunk = pool.subarray(0, size);
  pool = pool.subarray(size);
  return chunk;
}

/** A secret-strength token that marks the owner of a lease. */
export function newLeaseToken(): string {
  return randomBytes(16).toString('hex');
}
