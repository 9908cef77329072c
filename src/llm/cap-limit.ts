/** Bounded, like all that repeats here, so that no text whatever takes long. */
const N = String.raw`(\d[\d,_]{0,15})`;
const pattern = (source: string): RegExp => new RegExp(source.replaceAll('#', N), 'i');

/** How endpoints name the largest output cap they take; each line is the wording of at least one of them. */
const LIMITS = [
  'supports? at most #',
  'less than or equal to [`\'"]?#',
  'valid range of \\S{1,60} is \\[\\s?\\d{1,12}\\s?,\\s?#',
  'range of \\S{1,60} should be \\[\\s?\\d{1,12}\\s?,\\s?#',
  '\\d{1,12} > #,? which is the maximum',
  'maximum (?:allowed )?(?:value|number of output tokens)[^\\d.;]{0,60}#',
  'must (?:not exceed|be at most|be <=) #',
].map(pattern);
/** Google names the end of the range, and that it does not belong to it. */
const EXCLUSIVE_LIMIT = pattern('to # \\(exclusive\\)');
/** vLLM: the cap is larger than what the prompt leaves of the window. */
const ROOM = pattern('\\(\\d{1,12} > # - #\\)');

/** The largest output cap that an error text names, in tokens; null when it names none. */
export function capLimitIn(text: string): { readonly tokens: number; readonly lasting: boolean } | null {
  const [, window, used] = ROOM.exec(text) ?? [];
  if (window !== undefined && used !== undefined) {
    return usable(numberOf(window) - numberOf(used), false);
  }
  const exclusive = EXCLUSIVE_LIMIT.exec(text)?.[1];
  if (exclusive !== undefined) return usable(numberOf(exclusive) - 1, true);
  const limit = LIMITS.map((regexp) => regexp.exec(text)?.[1]).find((found) => found !== undefined);
  return limit === undefined ? null : usable(numberOf(limit), true);
}

function usable(tokens: number, lasting: boolean) {
  return Number.isSafeInteger(tokens) && tokens > 0 ? { tokens, lasting } : null;
}

function numberOf(digits: string): number {
  return Number(digits.replace(/[,_]/g, ''));
}
