/** One char of a word, all in lower case. */
interface SpelledChar {
  /** As it is; '' for one that may be left out. */
  readonly plain: string;
  /** Its only UTF-16 unit; null when it has two, or may be left out. */
  readonly unit: number | null;
  /** Other ways to write it. Each begins with a lead. */
  readonly escapes: readonly string[];
}

/** A word by the ways in which each of its chars may be written. */
export type Spelling = readonly SpelledChar[];

/** How far a match goes. */
export interface SpelledMatch {
  /** Index after the longest whole match; null without one. */
  readonly end: number | null;
  /** Chars of the word that were there when the text ended within it; null when it did not. */
  readonly cutAfter: number | null;
}

const NAMED: Readonly<Record<string, string>> = {
  '&': 'amp',
  '<': 'lt',
  '>': 'gt',
  '"': 'quot',
  "'": 'apos',
};
/** In a string of a string of a document there are so many before an escape. */
const BACKSLASHES = ['\\', '\\\\', '\\\\\\', '\\\\\\\\'];

/** Whether an escape begins with it: `\`, `%`, `&` or `+`. */
export function isLead(unit: number): boolean {
  return unit === 0x5c || unit === 0x25 || unit === 0x26 || unit === 0x2b;
}

/** @param isGap whether a char is one that may be missing, because it is never looked at in the text */
export function spellingOf(word: string, isGap: (char: string) => boolean): Spelling {
  const chars = Array.from(word);
  const first = chars.findIndex((char) => !isGap(char));
  const last = chars.findLastIndex((char) => !isGap(char));
  return chars.slice(Math.max(first, 0), last + 1).map((char) => {
    const plain = isGap(char) ? '' : lowered(char);
    const unit = plain.length === 1 ? plain.charCodeAt(0) : null;
    return { plain, unit, escapes: [...new Set(escapesOf(char).map(lowered))] };
  });
}

/** As JSON and JavaScript, addresses and forms, and HTML write it. */
function escapesOf(char: string): string[] {
  const well = char.toWellFormed();
  const code = well.codePointAt(0) ?? 0;
  const units = Array.from({ length: well.length }, (_, i) => `u${hex(well.charCodeAt(i), 4)}`);
  const bytes = (encoding: 'utf8' | 'latin1') => [...Buffer.from(well, encoding)].map((byte) => hex(byte, 2));
  const percent = [bytes('utf8'), ...(code < 256 ? [bytes('latin1')] : [])];
  return [
    ...BACKSLASHES.map((slashes) => units.map((unit) => slashes + unit).join('')),
    ...(code < 256 ? BACKSLASHES.map((slashes) => `${slashes}x${hex(code, 2)}`) : []),
    ...(/[\p{L}\p{N}]/u.test(char) ? [] : BACKSLASHES.map((slashes) => slashes + char)),
    ...percent.flatMap((each) => [`%${each.join('%')}`, `%25${each.join('%25')}`]),
    `&#${code};`,
    `&#x${hex(code, 0)};`,
    ...(NAMED[char] === undefined ? [] : [`&${NAMED[char]};`]),
    ...(char === ' ' ? ['+'] : []),
  ];
}

/**
 * Finds out whether the word stands at this place of a text in lower case. What holds no escape is looked at once, char
 * by char; only behind an escape there may be more than one way to go on.
 */
export function matchAt(text: string, start: number, spelling: Spelling): SpelledMatch {
  for (let index = 0; index < spelling.length; index += 1) {
    const place = start + index;
    const wanted = spelling[index]?.unit ?? null;
    const unit = text.charCodeAt(place);
    if (wanted === null || place >= text.length || isLead(unit))
      return matchEscaped(text, place, spelling, index);
    if (unit !== wanted) return NO_MATCH;
  }
  return { end: start + spelling.length, cutAfter: null };
}

const NO_MATCH: SpelledMatch = { end: null, cutAfter: null };

function matchEscaped(text: string, start: number, spelling: Spelling, first: number): SpelledMatch {
  let places: readonly number[] = [start];
  let cutAfter: number | null = null;
  for (let index = first; index < spelling.length; index += 1) {
    const { plain, escapes } = spelling[index] ?? NO_CHAR;
    const reached = new Set<number>();
    for (const place of places) {
      const forms = isLead(text.charCodeAt(place)) ? [plain, ...escapes] : [plain];
      if (place >= text.length) cutAfter = index;
      for (const form of forms) {
        if (text.startsWith(form, place)) reached.add(place + form.length);
        else if (place + form.length > text.length && form.startsWith(text.slice(place))) cutAfter = index;
      }
    }
    if (reached.size === 0) return { end: null, cutAfter };
    places = [...reached];
  }
  return { end: Math.max(...places), cutAfter };
}

const NO_CHAR: SpelledChar = { plain: '', unit: null, escapes: [] };

/** In lower case, each char by itself and as long as it was. */
export function lowered(text: string): string {
  const lower = text.toLowerCase();
  // The only char that becomes longer; and the only one whose lower case depends on what stands beside it.
  const same = lower.length === text.length ? lower : text.replaceAll('\u0130', '\ufffe').toLowerCase();
  return same.replaceAll('\u03c2', '\u03c3');
}

function hex(value: number, digits: number): string {
  return value.toString(16).padStart(digits, '0');
}
