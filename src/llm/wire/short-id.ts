import { createHash } from 'node:crypto';

const DIGITS = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const LENGTH = 9;

/** The form that the narrowest servers take; those with other rules take it too. */
export function isShortId(id: string): boolean {
  return /^[0-9A-Za-z]{9}$/.test(id);
}

/** An id of 9 letters and digits that depends on the seed alone: the same on every host and at every time. */
export function shortId(seed: string): string {
  let rest = createHash('sha256').update(seed).digest().readBigUInt64BE();
  let id = '';
  for (let i = 0; i < LENGTH; i += 1) {
    id += DIGITS.charAt(Number(rest % 62n));
    rest /= 62n;
  }
  return id;
}
