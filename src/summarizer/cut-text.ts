import { classAt, OTHER, SPACE, SPACELESS, safeCut } from './char-classes.js';

export const ELLIPSIS = '…';

/** A run without a space this long is a blob (base64, minified code): cutting inside it loses nothing. */
const BLOB_CHARS = 100;

const segmenter = new Intl.Segmenter('und', { granularity: 'word' });

/**
 * Shortens a text to at most `maxChars` UTF-16 units, ellipsis included, at a word boundary: a number or a
 * path is kept whole or left out whole, since half of one is a different one. Only where the text begins with
 * a single run longer than the room is that run itself cut, never inside a surrogate pair.
 */
export function cutText(text: string, maxChars: number): string {
  if (text.length <= maxChars) return text;
  if (maxChars < 1) return '';
  const limit = maxChars - ELLIPSIS.length;
  const boundary = lastBoundary(text, limit);
  const isBlob = limit - boundary > BLOB_CHARS;
  const end = boundary === 0 || isBlob ? safeCut(text, limit) : boundary;
  return text.slice(0, end).trimEnd() + ELLIPSIS;
}

/** The last place at or before `limit` where a word may end; 0 when there is none. */
function lastBoundary(text: string, limit: number): number {
  const lowest = Math.max(0, limit - 2 * BLOB_CHARS);
  let words: Intl.Segments | null = null;
  for (let i = limit; i > lowest; i -= 1) {
    const before = classAt(text, i - 1);
    if (before === SPACE || classAt(text, i) === SPACE) return i;
    // A mark above U+3000 (ideographic full stop, comma) ends a word, an ASCII one may stand inside a path.
    if (before === OTHER && text.charCodeAt(i - 1) >= 0x3000) return i;
    if (before === SPACELESS) {
      words ??= segmenter.segment(text.slice(0, limit + BLOB_CHARS));
      if (words.containing(i)?.index === i) return i;
    }
  }
  return 0;
}

/** Makes one line of a text: every run of white space and control characters becomes one space. */
export function squeeze(text: string): string {
  return text.replace(/[\s\p{Cc}]+/gu, ' ').trim();
}
