const isLowSurrogate = (unit: number) => unit >= 0xdc00 && unit <= 0xdfff;
const isHighSurrogate = (unit: number) => unit >= 0xd800 && unit <= 0xdbff;

/**
 * The largest cut at or before `at` (a UTF-16 index, at most the length) that parts no surrogate pair: half a
 * pair makes a whole request body invalid for strict parsers.
 */
export function safeCut(text: string, at: number): number {
  const inside = at > 0 && at < text.length && isLowSurrogate(text.charCodeAt(at));
  return inside && isHighSurrogate(text.charCodeAt(at - 1)) ? at - 1 : at;
}

/** Text of at most `limit` chars as it is; longer text cut there, with an ellipsis. */
export function excerptStart(text: string, limit: number): string {
  return text.length <= limit ? text : `${text.slice(0, safeCut(text, limit))}…`;
}

/**
 * Text of at most `limit` chars as it is; longer text as its head and tail (two thirds and one third of
 * `limit`) around a marker that says how many chars are left out.
 */
export function excerptMiddle(text: string, limit: number): string {
  if (text.length <= limit) return text;
  const headEnd = safeCut(text, Math.ceil((limit * 2) / 3));
  const tailStart = safeCut(text, text.length - Math.floor(limit / 3));
  const leftOut = (tailStart - headEnd).toLocaleString('en-US');
  return `${text.slice(0, headEnd)}\n[... ${leftOut} chars left out ...]\n${text.slice(tailStart)}`;
}
