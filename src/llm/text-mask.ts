import { lowered, matchAt, spellingOf } from './spellings.js';
import { WordStarts } from './word-starts.js';

const MARK = '[REDACTED]';
/** A text that ends in this many chars of a word, or more, was probably cut inside it. */
const SHORTEST_PART = 8;
/**
 * What nobody sees: control and format characters, marks, fillers, halves of surrogate pairs and what they become. Line
 * breaks and tabs are seen.
 */
const INVISIBLE = /(?:(?![\t-\r])[\p{C}\p{M}\ufffd\u115f\u1160\u3164\uffa0\u2800])+/gu;
const INVISIBLE_OR_BLANK = /[\s\p{C}\p{M}\ufffd\u115f\u1160\u3164\uffa0\u2800]+/gu;
/** Tells quickly that a text holds nothing of the first of them. */
const UNUSUAL = /[^\t-\r\x20-\x7e]/;

/** Text that comes in pieces. What a piece ends with may be kept until the next one, or the end, says what it is. */
export interface TextStream {
  /** Gives what of the text so far can be shown now; often less than the piece, never more. */
  take(piece: string): string;
  /** The end of the text: gives what was kept. */
  end(): string;
}

interface Place {
  /** Index after the longest word that stands here whole; null without one. */
  readonly end: number | null;
  /** Chars of a longer word with which the text ends; null when it ends with none. */
  readonly cutAfter: number | null;
}

/**
 * Replaces words in texts, also when a word is cut anywhere between two pieces of a stream. Words are found in either
 * case, with any of their chars escaped, and with invisible characters between them: whoever decodes or cleans the
 * text later must not put a word together.
 */
export class TextMask {
  readonly #starts: WordStarts | null;
  readonly #gaps: RegExp;

  /** @param gaps what may stand between the chars of a word: what cannot be seen, or blanks as well */
  constructor(words: readonly string[], gaps: 'invisible' | 'blank' = 'invisible') {
    this.#gaps = gaps === 'blank' ? INVISIBLE_OR_BLANK : INVISIBLE;
    const isGap = (text: string): boolean => text.replace(this.#gaps, '') === '';
    const spellings = words.filter((word) => !isGap(word)).map((word) => spellingOf(word, isGap));
    this.#starts = spellings.length === 0 ? null : new WordStarts(spellings);
  }

  whole(text: string): string {
    return this.#masked(text, () => false).shown;
  }

  /** For a text that may have been cut: a part of a word at its end is replaced too. */
  cut(text: string): string {
    const { shown, rest } = this.#masked(
      text,
      ({ end, cutAfter }) => end === null && (cutAfter ?? 0) >= SHORTEST_PART,
    );
    return rest === '' ? shown : shown + MARK;
  }

  stream(): TextStream {
    let kept = '';
    return {
      take: (piece) => {
        // Nothing that is seen: a word goes on behind it or does not. Looked at with each piece, kept text would
        // cost the square of its length.
        if (kept !== '' && this.#isGap(piece)) {
          kept += piece;
          return '';
        }
        // What may go on in the next piece is kept, also a word that may be the beginning of a longer one.
        const { shown, rest } = this.#masked(kept + piece, ({ cutAfter }) => cutAfter !== null);
        kept = rest;
        return shown;
      },
      end: () => {
        const last = this.whole(kept);
        kept = '';
        return last;
      },
    };
  }

  /** The text up to the first place that is open, without its words, and the rest as it is. */
  #masked(
    text: string,
    isOpen: (place: Place) => boolean,
  ): { readonly shown: string; readonly rest: string } {
    const starts = this.#starts;
    if (starts === null) return { shown: text, rest: '' };
    const isUsual = this.#gaps === INVISIBLE && !UNUSUAL.test(text);
    const { seen, indexOf } = isUsual ? asItIs(text) : withoutGaps(text, this.#gaps);
    const lower = isUsual ? text.toLowerCase() : lowered(seen);
    const first = starts.next(lower, 0);
    if (first === lower.length) return { shown: text, rest: '' };
    let shown = '';
    let from = 0;
    let next = 0;
    for (let start = first; start < lower.length; start = starts.next(lower, next)) {
      next = start + 1;
      const place = placeAt(lower, start, starts);
      if (isOpen(place))
        return { shown: shown + text.slice(from, indexOf(start)), rest: text.slice(indexOf(start)) };
      if (place.end === null) continue;
      shown += text.slice(from, indexOf(start)) + MARK;
      next = place.end;
      // Up to its last char, and not what nobody sees behind it.
      from = indexOf(next - 1) + 1;
    }
    return { shown: shown + text.slice(from), rest: '' };
  }

  #isGap(piece: string): boolean {
    return (this.#gaps !== INVISIBLE || UNUSUAL.test(piece)) && piece.replace(this.#gaps, '') === '';
  }
}

function placeAt(text: string, start: number, starts: WordStarts): Place {
  let end: number | null = null;
  let cutAfter: number | null = null;
  for (const spelling of starts.wordsAt(text, start)) {
    const match = matchAt(text, start, spelling);
    if (match.end !== null) end = Math.max(match.end, end ?? 0);
    if (match.cutAfter !== null) cutAfter = Math.max(match.cutAfter, cutAfter ?? 0);
  }
  return { end, cutAfter };
}

interface SeenText {
  readonly seen: string;
  /** Where a char of it stands in the whole: to be asked in ascending order. */
  readonly indexOf: (index: number) => number;
}

function asItIs(text: string): SeenText {
  return { seen: text, indexOf: same };
}

function same(index: number): number {
  return index;
}

/**
 * The text without its gaps. The runs
 * between gaps are only looked for as far as is asked: a text may have millions, and as a rule no word.
 */
function withoutGaps(text: string, gaps: RegExp): SeenText {
  const seen = text.replace(gaps, '');
  if (seen.length === text.length) return asItIs(text);
  const found = text.matchAll(gaps);
  /** The run at hand: where it begins in what is seen, and its bounds in the whole. */
  let [at, from, to] = [0, 0, 0];
  let next = 0;
  return {
    seen,
    indexOf: (index) => {
      while (index >= at + to - from) {
        const gap = found.next().value;
        [at, from, to] = [at + to - from, next, gap?.index ?? text.length];
        next = gap === undefined ? text.length : gap.index + gap[0].length;
      }
      return from + index - at;
    },
  };
}
