import { isRecord, parseJson } from './narrow.js';

type Clean = (text: string) => string;

/**
 * A JSON text without what `clean` takes out, also where only the parsed strings show it. Only then it is written anew:
 * what can be replaced in the text itself leaves all else as it was, byte by byte. What is no JSON is cleaned as it is.
 */
export function cleanJsonText(text: string, clean: Clean): string {
  const plain = clean(text);
  if (!text.includes('\\') && (plain === text || parseJson(plain) !== undefined)) return plain;
  const broken = plain !== text && parseJson(plain) === undefined;
  const cleaned = rewritten(broken ? text : plain, clean) ?? plain;
  // A number may be a secret too; better no JSON than that.
  return clean(cleaned);
}

function rewritten(text: string, clean: Clean): string | null {
  const value = parseJson(text);
  if (value === undefined) return null;
  try {
    const cleaned = JSON.stringify(cleanJson(value, clean));
    return cleaned === JSON.stringify(value) ? null : cleaned;
  } catch (error) {
    // So deep that it cannot be walked.
    if (error instanceof RangeError) return null;
    throw error;
  }
}

/** The same value with every string in it cleaned, names of members too. */
export function cleanJson(value: unknown, clean: Clean): unknown {
  if (typeof value === 'string') return clean(value);
  if (Array.isArray(value)) return value.map((item: unknown) => cleanJson(item, clean));
  if (!isRecord(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => [clean(name), cleanJson(member, clean)]),
  );
}
