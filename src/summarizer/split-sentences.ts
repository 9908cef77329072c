import { classAt, DIGIT, isWordClass, LETTER, SPACE, safeCut, UPPER } from './char-classes.js';

/** One sentence, or a bounded piece of something that has no sentences, exactly as it stands in its message. */
export interface SentencePiece {
  readonly text: string;
  /** Inside a fenced code block. */
  readonly isCode: boolean;
  /** Cut out of a longer run without a sentence end: JSON, tables, minified code. */
  readonly isFragment: boolean;
  /** Part of a line that is marked as an item of a list. */
  readonly isListItem: boolean;
  /** The first piece of its line. */
  readonly startsLine: boolean;
}

/** Intl.Segmenter takes 46 s for a million newlines in one string and 16 s for 1 MB of Japanese; in windows of this size it is linear. */
const WINDOW_CHARS = 2000;
/** A line this short is one piece: starting the segmenter costs more than a finer cut would gain. */
const WHOLE_LINE_CHARS = 40;
/** A longer sentence is cut into fragments of at most this many chars. */
const MAX_SENTENCE_CHARS = 400;
const FRAGMENT_CHARS = 240;
/** Shorter ends (`1.`, `Dr.`) are no sentence of their own and stay with what follows. */
const MIN_SENTENCE_CHARS = 5;

// 'und' and not the machine's locale: the same input has to give the same bytes everywhere.
const segmenter = new Intl.Segmenter('und', { granularity: 'sentence' });

/** Splits a text into sentences of at most 400 chars each, blank ones left out. Linear for any input. */
export function* splitSentences(text: string): Generator<SentencePiece> {
  let isCode = false;
  let start = 0;
  while (start < text.length) {
    const newline = text.indexOf('\n', start);
    const end = newline === -1 ? text.length : newline;
    if (end > start) {
      const first = skipSpaces(text, start, end);
      if (text.startsWith('```', first)) isCode = !isCode;
      else if (first < end) yield* splitLine(text.slice(first, end), isCode);
    }
    start = end + 1;
  }
}

function skipSpaces(text: string, start: number, end: number): number {
  let at = start;
  while (at < end && classAt(text, at) === SPACE) at += 1;
  return at;
}

/** A bullet or a number at the start of a line. */
const LIST_ITEM = /^(?:[-*+•‣◦–]|\p{N}{1,3}[.):、．])\s*\S/u;

function* splitLine(line: string, isCode: boolean): Generator<SentencePiece> {
  const isListItem = LIST_ITEM.test(line);
  if (line.length <= WHOLE_LINE_CHARS || (isCode && line.length <= MAX_SENTENCE_CHARS)) {
    yield { text: line.trimEnd(), isCode, isFragment: false, isListItem, startsLine: true };
    return;
  }
  let start = 0;
  while (start < line.length) {
    const limit = Math.min(line.length, start + WINDOW_CHARS);
    const end = limit === line.length ? limit : fragmentEnd(line, start, limit);
    const sentences = mergeShort(line.slice(start, end));
    // The window may end inside its last sentence: that one is read again, whole, with the next window.
    const last = sentences.length > 1 && end < line.length ? sentences.pop() : undefined;
    let at = start;
    for (const sentence of sentences) {
      const startsLine = at === 0;
      for (const piece of boundedPieces(sentence)) yield { ...piece, isCode, isListItem, startsLine };
      at += sentence.length;
    }
    start = last === undefined ? end : end - last.length;
  }
}

function mergeShort(window: string): string[] {
  const sentences: string[] = [];
  let start = 0;
  for (const { segment, index } of segmenter.segment(window)) {
    const end = index + segment.length;
    if (end - start < MIN_SENTENCE_CHARS || !mayEnd(segment)) continue;
    const sentence = window.slice(start, end);
    if (sentence.trimEnd().length < MIN_SENTENCE_CHARS) continue;
    sentences.push(sentence);
    start = end;
  }
  if (start < window.length) sentences.push(window.slice(start));
  return sentences;
}

/**
 * The segmenter also ends a sentence at the mark in `page?id=7` and in `../lib`: an ASCII mark ends one only
 * with white space behind it.
 */
function mayEnd(sentence: string): boolean {
  return classAt(sentence, sentence.length - 1) === SPACE || sentence.charCodeAt(sentence.length - 1) >= 0x80;
}

function* boundedPieces(sentence: string): Generator<Pick<SentencePiece, 'text' | 'isFragment'>> {
  const text = sentence.trim();
  if (text === '') return;
  if (text.length <= MAX_SENTENCE_CHARS) {
    yield { text, isFragment: false };
    return;
  }
  for (const part of cutIntoFragments(text, FRAGMENT_CHARS)) yield { text: part, isFragment: true };
}

/**
 * Cuts a text into trimmed parts of at most `maxChars` (>= 40), at white space or after a punctuation mark
 * where there is one in the second half of a part, so that no number or path is torn apart without need.
 */
export function cutIntoFragments(text: string, maxChars: number): string[] {
  const parts: string[] = [];
  let start = 0;
  while (start < text.length) {
    const limit = Math.min(text.length, start + maxChars);
    const end = limit === text.length ? limit : fragmentEnd(text, start, limit);
    const part = text.slice(start, end).trim();
    if (part !== '') parts.push(part);
    start = end;
  }
  return parts;
}

function fragmentEnd(text: string, start: number, limit: number): number {
  const earliest = start + Math.floor((limit - start) / 2);
  let space = -1;
  for (let i = limit; i > earliest; i -= 1) {
    const before = classAt(text, i - 1);
    if (before === SPACE) {
      // A space after a comma or the like parts better than one between two words.
      if (!isWordClass(classAt(text, i - 2))) return i;
      if (space === -1) space = i;
    } else if (space === -1 && !isWordClass(before) && !isSpacedWord(classAt(text, i)) && i < limit) {
      space = i;
    }
  }
  return space === -1 ? safeCut(text, limit) : space;
}

function isSpacedWord(unitClass: number): boolean {
  return unitClass === LETTER || unitClass === UPPER || unitClass === DIGIT;
}
