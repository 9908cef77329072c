import { countOf } from '../narrow.js';

/**
 * A window as JSON holds it, in tokens: a positive whole number, or a text of digits. Null for anything else; 0
 * and -1 are how servers say that they do not know.
 */
export function windowIn(value: unknown): number | null {
  const number = typeof value === 'string' && /^\s*\d+\s*$/.test(value) ? Number(value) : value;
  return countOf(number) || null;
}

/** The smallest of the windows that are known; null when none is. */
export function smallest<Window extends { readonly tokens: number }>(
  windows: readonly (Window | null)[],
): Window | null {
  return windows.reduce(
    (least, window) => (least === null || (window !== null && window.tokens < least.tokens) ? window : least),
    null,
  );
}
