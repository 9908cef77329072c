import { isLead, type Spelling } from './spellings.js';

/** Units that are told apart: those of ASCII. All others count as the last of them, which is in no visible text. */
const UNITS = 128;
const OTHER = UNITS - 1;
/** Stands for the second unit where the text ends after the first. */
const END = 0;
const NONE: readonly Spelling[] = [];

/** What begins an escaped first char, by its units. */
interface Escape {
  readonly next: Map<number, Escape>;
  /** The words that begin with the escape that ends here. */
  readonly words: Spelling[];
}

/**
 * Finds where in a text one of some words may begin, by two units. A text is looked at once, unit by unit, and as a
 * rule with one look into a table for each: the cost of a mask is that of this loop.
 */
export class WordStarts {
  /** By both units: 0, or the number of a list of words. */
  readonly #table = new Uint16Array(UNITS * UNITS);
  readonly #lists: (readonly Spelling[])[] = [NONE];
  readonly #escapes: Escape = { next: new Map(), words: [] };

  constructor(spellings: readonly Spelling[]) {
    const lists = new Map<number, Set<Spelling>>();
    for (const spelling of spellings) {
      for (const pair of pairsOf(spelling)) lists.set(pair, (lists.get(pair) ?? new Set()).add(spelling));
    }
    for (const spelling of spellings) {
      const { plain = '', escapes = [] } = spelling[0] ?? {};
      for (const form of [plain, ...escapes]) endOf(this.#escapes, form).words.push(spelling);
    }
    for (const [pair, words] of lists) this.#table[pair] = this.#lists.push([...words]) - 1;
  }

  /** The next place at or behind this one of a text in lower case; its length when there is none. */
  next(text: string, from: number): number {
    const table = this.#table;
    const last = text.length - 1;
    if (from > last) return text.length;
    let unit = known(text.charCodeAt(from));
    for (let at = from; at < last; at += 1) {
      const following = known(text.charCodeAt(at + 1));
      if (table[unit * UNITS + following] !== 0) return at;
      unit = following;
    }
    return table[unit * UNITS + END] === 0 ? text.length : last;
  }

  /** The words that may begin at a place that was found. */
  wordsAt(text: string, at: number): readonly Spelling[] {
    const unit = text.charCodeAt(at);
    const following = at + 1 < text.length ? known(text.charCodeAt(at + 1)) : END;
    const words = this.#lists[this.#table[known(unit) * UNITS + following] ?? 0] ?? NONE;
    return isLead(unit) ? (this.#escapedAt(text, at) ?? words) : words;
  }

  /** The words whose first char stands there escaped; null where the text ends within the escape. */
  #escapedAt(text: string, at: number): readonly Spelling[] | null {
    let found: readonly Spelling[] = NONE;
    let node: Escape | undefined = this.#escapes;
    for (let place = at; ; place += 1) {
      if (place >= text.length) return null;
      node = node.next.get(text.charCodeAt(place));
      if (node === undefined) return found;
      if (node.words.length > 0) found = found.length === 0 ? node.words : [...found, ...node.words];
    }
  }
}

function endOf(root: Escape, form: string): Escape {
  let node = root;
  for (let place = 0; place < form.length; place += 1) {
    const unit = form.charCodeAt(place);
    const next = node.next.get(unit) ?? { next: new Map(), words: [] };
    node.next.set(unit, next);
    node = next;
  }
  return node;
}

function pairsOf([first, second]: Spelling): number[] {
  if (first === undefined) return [];
  const anyUnit = Array.from({ length: UNITS }, (_, unit) => unit);
  // A second char that may be missing says nothing; nor is there one in a word of one.
  const isOpen = second === undefined || second.plain === '';
  const goesOn = isOpen
    ? anyUnit
    : [second.plain, ...second.escapes].map((form) => known(form.charCodeAt(0)));
  return [first.plain, ...first.escapes].flatMap((form) => {
    const following = form.length > 1 ? [known(form.charCodeAt(1))] : goesOn;
    return [END, ...following].map((unit) => known(form.charCodeAt(0)) * UNITS + unit);
  });
}

function known(unit: number): number {
  return Math.min(unit, OTHER);
}
