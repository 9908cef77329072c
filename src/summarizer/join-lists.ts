import { hasWord } from './char-classes.js';
import { stripBullets } from './previous-summary.js';
import type { SentencePiece } from './split-sentences.js';

/** A list is told in lines of at most so many chars. */
const MAX_JOINED_CHARS = 260;
const SEPARATOR = '; ';

/**
 * Joins a line that announces a list ("Option 2:") with the list items under it, as far as they fit one line.
 * "Departure: 17:00" by itself does not say of what, and the announcement by itself says nothing. Markers and
 * decoration (rules, fences) are left out.
 */
export function* joinLists(pieces: Iterable<SentencePiece>): Generator<SentencePiece> {
  let open: SentencePiece | undefined;
  for (const piece of pieces) {
    const text = stripBullets(piece.text);
    if (isMarker(text) || !hasWord(text)) continue;
    const joins = open !== undefined && piece.isListItem && !piece.isCode && !piece.isFragment;
    if (
      open !== undefined &&
      joins &&
      open.text.length + text.length + SEPARATOR.length <= MAX_JOINED_CHARS
    ) {
      const separator: string = !piece.startsLine || announces(open.text) ? ' ' : SEPARATOR;
      open = { ...open, text: open.text + separator + text };
      continue;
    }
    if (open !== undefined) yield open;
    open = undefined;
    const opens = !piece.isCode && !piece.isFragment && (piece.isListItem || announces(text));
    if (opens) open = { ...piece, text };
    else yield { ...piece, text };
  }
  if (open !== undefined) yield open;
}

/** Whether a line ends with a colon, as one does that announces what follows. */
export function announces(text: string): boolean {
  return /[:：][\s*_]{0,4}$/u.test(text.slice(-6));
}

/** `[image]` and `[... 12,345 chars left out ...]` stand for something that is not there. */
function isMarker(text: string): boolean {
  return text.startsWith('[') && text.length <= 80 && /^\[(?:\.\.\.[^\]]*|[\p{L}\p{M} _-]+)\]$/u.test(text);
}
