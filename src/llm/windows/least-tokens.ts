/** Words up to this length may be one token each, however long; letters beyond are data, such as base64. */
const LONGEST_WORD = 20;
/** Chars that a word counts at most: with its space it is at least one token, in any tokenizer. */
const WORD_CHARS = 5;
/** Of a run of the same char (spaces, `====`), which may be one token, this many count. */
const RUN_CHARS = 3;
const CHARS_PER_TOKEN = 4;

/**
 * About the fewest tokens that any tokenizer makes of a text. Bytes / 4 would not do for this: with o200k, Hindi,
 * Thai, Russian and Georgian have 7 to 9 bytes per token, long English words 10, and indented text over 20. So chars
 * count instead of bytes (twice for Chinese, Japanese and Korean: 1.4 to 2 chars per token), words and runs in part.
 */
export function leastTokens(text: string): number {
  let chars = 0;
  let word = 0;
  let run = 0;
  let previous = -1;
  for (let i = 0; i < text.length; i += 1) {
    const code = text.charCodeAt(i);
    run = code === previous ? run + 1 : 1;
    previous = code;
    if (run > RUN_CHARS) continue;
    const isIdeograph = isEastAsian(code);
    if (!isIdeograph && isLetter(code)) {
      word += 1;
      continue;
    }
    chars += wordChars(word) + (isIdeograph ? 2 : 1);
    word = 0;
  }
  return Math.floor((chars + wordChars(word)) / CHARS_PER_TOKEN);
}

function wordChars(length: number): number {
  return length > LONGEST_WORD ? length : Math.min(length, WORD_CHARS);
}

function isEastAsian(code: number): boolean {
  return (
    (code >= 0x3040 && code <= 0x30ff) ||
    (code >= 0x3400 && code <= 0x9fff) ||
    (code >= 0xac00 && code <= 0xd7a3)
  );
}

/** Everything beyond Latin-1's signs counts as a letter: exact classes would cost more than they tell here. */
function isLetter(code: number): boolean {
  return (code >= 0x61 && code <= 0x7a) || (code >= 0x41 && code <= 0x5a) || code >= 0xc0;
}
