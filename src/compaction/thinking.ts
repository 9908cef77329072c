import { withoutCode } from './code-blanks.js';

/** Without any there is nothing to look for. */
const ANY_TAG = /<\/?(?:think|thinking)>/i;

interface Tag {
  readonly closes: boolean;
  /** Index after the tag. */
  readonly end: number;
}

/**
 * The reply without the think block that opens it; a block that never closes leaves nothing. Where the opening tag
 * was in the prompt, the reply begins inside the block: what stands before a closing tag that ends its line is
 * thinking too, unless it is quoted. Other tags are text. Tags in code are talked about; they open and close nothing.
 */
export function withoutThinking(text: string): string {
  if (!ANY_TAG.test(text)) return text;
  const open = /^\s*<(think|thinking)>/i.exec(text);
  if (open?.[1] !== undefined) {
    const [start, name] = [open[0].length, open[1]];
    // A stray backtick on either side of the end makes it look like code: better that end than none.
    const end = blockEnd(tagsIn(withoutCode(text), start, name)) ?? blockEnd(tagsIn(text, start, name));
    return end === null ? '' : text.slice(end);
  }
  const plain = withoutCode(text);
  const lone = /^[^`\n]*<\/(?:think|thinking)>[ \t]*\r?$/im.exec(plain);
  if (lone === null) return text;
  const end = lone.index + lone[0].length;
  return /<(?:think|thinking)>/i.test(plain.slice(0, end)) ? text : text.slice(end);
}

/**
 * Where a block whose opening tag stands before these tags ends; null if it never does. Models write the tags while
 * they think, so that the first closing one need not be the end: they are counted. The block ends where every
 * opening tag is closed, and each closing tag after that which closes none moves the end: what stands before it was
 * still thinking. A pair after the end is part of the answer. Where the count never comes out, because an opening tag
 * was only mentioned, the last closing tag is the end.
 */
function blockEnd(tags: readonly Tag[]): number | null {
  let open = 1;
  let end: number | null = null;
  for (const tag of tags) {
    if (!tag.closes) open += 1;
    else if (open > 1 || (open === 1 && end !== null)) open -= 1;
    else [open, end] = [0, tag.end];
  }
  return end ?? tags.findLast((tag) => tag.closes)?.end ?? null;
}

/** The opening and closing tags of this name from `start` on. */
function tagsIn(text: string, start: number, name: string): readonly Tag[] {
  return [...text.matchAll(new RegExp(`<(/?)${name}>`, 'gi'))]
    .filter(({ index }) => index >= start)
    .map(({ index, 0: tag, 1: slash }) => ({ closes: slash === '/', end: index + tag.length }));
}
