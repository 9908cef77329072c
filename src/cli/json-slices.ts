import { QUOTE, stringEnd } from '../json/string-end.js';

/**
 * Cuts JSON text into the texts of its parts, without parsing: what is cut out is word for word what was
 * written. All of it expects valid JSON, as `JSON.parse` has found it before; other text gives meaningless
 * parts but no error.
 */

const COMMA = 0x2c;
const OPENING: ReadonlySet<number> = new Set([0x5b, 0x7b]);
const CLOSING: ReadonlySet<number> = new Set([0x5d, 0x7d]);

/** The elements of an array, or the members of an object (`"key": value`), each without space around it. */
export function topLevelParts(text: string): string[] {
  const parts: string[] = [];
  let depth = 0;
  let start = 0;
  for (let i = 0; i < text.length; i += 1) {
    const code = text.charCodeAt(i);
    if (code === QUOTE) {
      i = stringEnd(text, i) - 1;
    } else if (OPENING.has(code)) {
      depth += 1;
      if (depth === 1) start = i + 1;
    } else if (code === COMMA && depth === 1) {
      parts.push(text.slice(start, i).trim());
      start = i + 1;
    } else if (CLOSING.has(code)) {
      depth -= 1;
      const last = depth === 0 ? text.slice(start, i).trim() : '';
      if (last !== '') parts.push(last);
    }
  }
  return parts;
}

/** The name of a member that `topLevelParts` cut out, with its escapes resolved. */
export function memberName(member: string): string {
  const name: unknown = JSON.parse(member.slice(0, stringEnd(member, 0)));
  return typeof name === 'string' ? name : '';
}

/** Whether brackets are still open at the end of the text. Of text that is not JSON too. */
export function isUnfinished(text: string): boolean {
  let depth = 0;
  for (let i = 0; i < text.length; i += 1) {
    const code = text.charCodeAt(i);
    if (code === QUOTE) i = stringEnd(text, i) - 1;
    else if (OPENING.has(code)) depth += 1;
    else if (CLOSING.has(code)) depth -= 1;
  }
  return depth > 0;
}
