import { QUOTE, stringEnd } from './string-end.js';

/**
 * Finds the messages of a request body as they were written. Parsing and writing a message again would keep
 * its value for most messages but not all: keys that look like integers move to the front, integers above
 * 2^53 are rounded, and 1e400 becomes null. Stored texts are therefore cut out of the body.
 */

export interface BodyScan {
  /** The elements of the top-level array `messages`, each minified JSON text. */
  readonly messages: readonly string[];
  /** Where nesting passes the limit, as a JSON pointer to a top-level member or message; null if nowhere. */
  readonly tooDeepAt: string | null;
}

/** Levels a body may nest: a message may nest 64, and is itself at the third level of its body. */
export const MAX_BODY_DEPTH = 66;

/**
 * Scans JSON text in one pass. Text that is not valid JSON gives a meaningless result but no error: it is
 * the parser's to refuse. Linear in the length; strings are skipped by search, not char by char.
 */
export function scanBody(text: string): BodyScan {
  let depth = 0;
  let member = '';
  let messages: string[] = [];
  let elementStart = -1;
  let spaced = false;

  const endElement = (end: number) => {
    if (elementStart < 0) return;
    const raw = text.slice(elementStart, end);
    messages.push(spaced ? minify(raw) : raw);
    elementStart = -1;
    spaced = false;
  };

  for (let i = 0; i < text.length; i += 1) {
    const code = text.charCodeAt(i);
    if (code <= SPACE) {
      if (elementStart >= 0) spaced = true;
      continue;
    }
    const inMessages = depth === 2 && member === 'messages';
    if (inMessages && elementStart < 0 && code !== COMMA && code !== BRACKET_CLOSE) elementStart = i;
    switch (code) {
      case QUOTE: {
        const end = stringEnd(text, i);
        if (depth === 1 && isKey(text, end)) {
          member = unquote(text.slice(i, end));
          // The parser keeps the last of two members with one name, and so does this.
          if (member === 'messages') messages = [];
        }
        i = end - 1;
        break;
      }
      case BRACE_OPEN:
      case BRACKET_OPEN:
        depth += 1;
        if (depth > MAX_BODY_DEPTH) {
          const at =
            member === 'messages' ? `/messages/${messages.length}` : member === '' ? '' : `/${member}`;
          return { messages: [], tooDeepAt: at };
        }
        break;
      case COMMA:
        if (inMessages) endElement(i);
        break;
      case BRACE_CLOSE:
      case BRACKET_CLOSE:
        if (inMessages) endElement(i);
        depth -= 1;
        break;
    }
  }
  return { messages, tooDeepAt: null };
}

/** JSON text without the white space between its tokens. */
export function minify(text: string): string {
  const kept: string[] = [];
  let start = 0;
  for (let i = 0; i < text.length; i += 1) {
    const code = text.charCodeAt(i);
    if (code === QUOTE) i = stringEnd(text, i) - 1;
    else if (code <= SPACE) {
      kept.push(text.slice(start, i));
      start = i + 1;
    }
  }
  kept.push(text.slice(start));
  return kept.join('');
}

const SPACE = 0x20;
const COMMA = 0x2c;
const BRACKET_OPEN = 0x5b;
const BRACKET_CLOSE = 0x5d;
const BRACE_OPEN = 0x7b;
const BRACE_CLOSE = 0x7d;

function isKey(text: string, from: number): boolean {
  let i = from;
  while (text.charCodeAt(i) <= SPACE) i += 1;
  return text.charAt(i) === ':';
}

function unquote(raw: string): string {
  try {
    const value: unknown = JSON.parse(raw);
    return typeof value === 'string' ? value : '';
  } catch {
    return '';
  }
}
