const MARK = '[REDACTED]';

/** Text that comes in pieces. What a piece ends with may be kept until the next one, or the end, says what it is. */
export interface TextStream {
  /** Gives what of the text so far can be shown now; often less than the piece, never more. */
  take(piece: string): string;
  /** The end of the text: gives what was kept. */
  end(): string;
}

/** Replaces words in texts, also when a word is cut anywhere between two pieces of a stream. */
export class TextMask {
  readonly #words: readonly string[];
  readonly #pattern: RegExp | null;

  constructor(words: readonly string[]) {
    // Where several begin at one place, the longest is replaced.
    this.#words = words.toSorted((a, b) => b.length - a.length);
    const escaped = this.#words.map((word) => word.replace(/[\\^$.*+?()[\]{}|/-]/g, '\\$&'));
    this.#pattern = words.length === 0 ? null : new RegExp(escaped.join('|'), 'g');
  }

  whole(text: string): string {
    return this.#pattern === null ? text : text.replace(this.#pattern, MARK);
  }

  stream(): TextStream {
    let kept = '';
    return {
      take: (piece) => {
        const { shown, rest } = this.#split(kept + piece);
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

  /** Parts a text where a word may have begun that goes on in the next piece. */
  #split(text: string): { readonly shown: string; readonly rest: string } {
    if (this.#pattern === null) return { shown: text, rest: '' };
    const openings = this.#openings(text);
    const openingFrom = (from: number) => openings.find((start) => start >= from) ?? text.length;
    let shown = '';
    let from = 0;
    for (const match of text.matchAll(this.#pattern)) {
      // The word may be the beginning of a longer one, or lie within one.
      if (openingFrom(from) <= match.index) break;
      shown += text.slice(from, match.index) + MARK;
      from = match.index + match[0].length;
    }
    const end = openingFrom(from);
    return { shown: shown + text.slice(from, end), rest: text.slice(end) };
  }

  /** Where a word may begin that the text does not hold whole, in order. */
  #openings(text: string): number[] {
    const longest = this.#words[0]?.length ?? 0;
    const found: number[] = [];
    for (let start = Math.max(0, text.length - longest + 1); start < text.length; start += 1) {
      const end = text.slice(start);
      if (this.#words.some((word) => word.length > end.length && word.startsWith(end))) found.push(start);
    }
    return found;
  }
}
