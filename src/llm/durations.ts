const UNIT_MS: Readonly<Record<string, number>> = { h: 3_600_000, m: 60_000, s: 1_000, ms: 1 };
const TERM = String.raw`(\d+(?:\.\d+)?)\s*(ms|milliseconds?|hours?|minutes?|mins?|seconds?|secs?|h|m|s)\b`;
/** Terms follow each other directly or after a blank: `6m0s`, `1h 2m`, `120ms`. */
const TERMS = `(?:\\d+(?:\\.\\d+)?\\s*(?:ms|milliseconds?|hours?|minutes?|mins?|seconds?|secs?|h|m|s)\\s*)+`;

/** Milliseconds of a duration such as `4.77s`, `6m0s`, `120ms` or `20 seconds`; null for anything else. */
export function parseDuration(text: string): number | null {
  if (!new RegExp(`^\\s*${TERMS}$`, 'i').test(text)) return null;
  let total = 0;
  for (const [, amount, unit] of text.matchAll(new RegExp(TERM.replace('\\b', ''), 'gi'))) {
    total += Number(amount) * (UNIT_MS[unitKey(unit ?? '')] ?? 0);
  }
  return total;
}

/** Milliseconds that an error text asks to wait ("Please try again in 4.77s"); null when it names none. */
export function delayInText(text: string): number | null {
  const match = new RegExp(`(?:try again|retry|available again)\\s+(?:in|after)\\s+(${TERMS})`, 'i').exec(
    text,
  );
  return match?.[1] === undefined ? null : parseDuration(match[1]);
}

function unitKey(unit: string): string {
  const lower = unit.toLowerCase();
  return lower === 'ms' || lower.startsWith('milli') ? 'ms' : lower.charAt(0);
}
