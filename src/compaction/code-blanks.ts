/** A line that begins with a fence. */
interface Fence {
  /** Index of the line's first char. */
  readonly start: number;
  /** Index after its last char. */
  readonly end: number;
  readonly mark: string;
  /** Number of marks. */
  readonly length: number;
}

const FENCE_LINE = /^(`{3,}|~{3,})[^\n]*/gm;
const SPAN = /`[^`\n]+`/g;

/**
 * The same text, index by index, with blanks in place of code: fenced blocks and spans. The time it takes grows with
 * the text and not with its square, whatever fences are in it: replies come from strangers.
 */
export function withoutCode(text: string): string {
  if (!text.includes('`') && !text.includes('~~~')) return text;
  const fences = [...text.matchAll(FENCE_LINE)].map(
    ({ 0: line, 1: marks = '', index }): Fence => ({
      start: index,
      end: index + line.length,
      mark: marks.charAt(0),
      length: marks.length,
    }),
  );
  const closing = closingFences(fences);
  const parts: string[] = [];
  let at = 0;
  fences.forEach((fence, i) => {
    const close = closing[i];
    if (close === undefined || fence.start < at) return;
    parts.push(withoutSpans(text.slice(at, fence.start)), blank(text.slice(fence.start, close.end)));
    at = close.end;
  });
  parts.push(withoutSpans(text.slice(at)));
  return parts.join('');
}

/**
 * For each fence the one that closes it: the next one of its mark that is as long, or else the longest after it. None
 * for a fence that nothing follows: it is no code.
 */
function closingFences(fences: readonly Fence[]): readonly (Fence | undefined)[] {
  const closing: (Fence | undefined)[] = [];
  /** By mark the fences after this one that no nearer one is as long as: the nearest is the last, and the shortest. */
  const ahead = new Map<string, Fence[]>();
  for (let i = fences.length - 1; i >= 0; i -= 1) {
    const fence = fences[i];
    if (fence === undefined) continue;
    const later = ahead.get(fence.mark) ?? [];
    // What is looked at here and is too short goes: this one is nearer, and longer.
    closing[i] = later.findLast((other) => other.length >= fence.length) ?? later[0];
    while ((later.at(-1)?.length ?? Number.POSITIVE_INFINITY) <= fence.length) later.pop();
    later.push(fence);
    ahead.set(fence.mark, later);
  }
  return closing;
}

function withoutSpans(text: string): string {
  return text.replace(SPAN, (span) => ' '.repeat(span.length));
}

function blank(block: string): string {
  return block.replace(/[^\n]+/g, (line) => ' '.repeat(line.length));
}
