import type { WireContent, WirePart } from './wire-message.js';

/** Reading and joining `content`, which is text, a list of parts, null or missing. */

/** Stands where content must not be empty: a word for the model, so that it does not look for what is lost. */
export const EMPTY = '(empty)';

/**
 * White space counts as nothing: some endpoints refuse text that is only white space as they refuse text
 * of no length.
 */
export function isBlankText(text: unknown): boolean {
  return typeof text !== 'string' || text.trim() === '';
}

export function isBlankPart(part: WirePart): boolean {
  return part.type === 'text' && isBlankText(part.text);
}

export function isBlank(content: WireContent | undefined): boolean {
  if (content === undefined || content === null) return true;
  return typeof content === 'string' ? isBlankText(content) : content.every(isBlankPart);
}

/**
 * Several contents as one. Texts are joined by a blank line, the border that every model reads as one; as
 * soon as one of them is a list of parts, the result is the list of all their parts. Blank ones leave no
 * trace; null when all of them are.
 */
export function joinContents(contents: readonly (WireContent | undefined)[]): WireContent {
  const said = contents.filter((content) => content !== undefined && content !== null && !isBlank(content));
  const texts = said.filter((content) => typeof content === 'string');
  if (texts.length === said.length) return texts.length === 0 ? null : texts.join('\n\n');
  return said.flatMap(partsOf);
}

function partsOf(content: WireContent | undefined): readonly WirePart[] {
  if (typeof content === 'string') return [{ type: 'text', text: content }];
  return content ?? [];
}
