/** A word by the ways in which each of its chars may be written, all in lower case; '' where it may be left out. */
export type Spelling = readonly (readonly string[])[];

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

/** @param isGap whether a char is one that may be missing, because it is never looked at in the text */
export function spellingOf(word: string, isGap: (char: string) => boolean): Spelling {
  const chars = Array.from(word);
  const first = chars.findIndex((char) => !isGap(char));
  const last = chars.findLastIndex((char) => !isGap(char));
  return chars
    .slice(Math.max(first, 0), last + 1)
    .map((char) => [...new Set([...(isGap(char) ? [''] : [char]), ...escapesOf(char)])].map(lower));
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

/** Finds out whether the word stands at this place of a text. */
export function matchAt(text: string, start: number, spelling: Spelling): SpelledMatch {
  let places: readonly number[] = [start];
  let cutAfter: number | null = null;
  for (const [index, forms] of spelling.entries()) {
    const reached: number[] = [];
    for (const place of places) {
      for (const form of forms) {
        const there = lower(text.slice(place, place + form.length));
        if (there === form) {
          if (!reached.includes(place + form.length)) reached.push(place + form.length);
        } else if (place + form.length > text.length && form.startsWith(there)) cutAfter = index;
      }
    }
    if (reached.length === 0) return { end: null, cutAfter };
    places = reached;
  }
  return { end: Math.max(...places), cutAfter };
}

/**
 * Finds places where one of the words may begin, by the first char and what may be the beginning of the second. Places
 * at the end of a text, where there is no second one, are not found.
 */
export function startsOf(spellings: readonly Spelling[]): RegExp {
  const starts = spellings.map(([first = [], second = []]) => {
    const beginnings = new Set([...'\\%&+', ...second.map((form) => form.charAt(0))]);
    // A second char that may be missing says nothing; nor is there one in a word of one.
    const goesOn =
      second.length === 0 || second.includes('') ? '' : `(?=${[...beginnings].map(escaped).join('|')})`;
    return `(?:${first.map(escaped).join('|')})${goesOn}`;
  });
  return new RegExp([...new Set(starts)].join('|'), 'gi');
}

function escaped(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|/-]/g, '\\$&');
}

function hex(value: number, digits: number): string {
  return value.toString(16).padStart(digits, '0');
}

function lower(text: string): string {
  return text.toLowerCase();
}
