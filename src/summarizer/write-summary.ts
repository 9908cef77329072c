import { SUMMARY_HEADINGS } from '../compaction/summary-headings.js';

/** One line of the summary to be written. */
export interface SummaryItem {
  readonly heading: string;
  /** One line, no bullet. */
  readonly text: string;
  /** Place in the order of telling: lines of the previous summary first, then the transcript's own order. */
  readonly order: number;
}

/** `list`: headings and bullets; `plain`: bare lines, where the room is too small to spend it on headings. */
export type Layout = 'list' | 'plain';

/** Under this many chars a heading would cost more than it tells. */
const PLAIN_BELOW = 160;

export function layoutFor(maxChars: number): Layout {
  return maxChars < PLAIN_BELOW ? 'plain' : 'list';
}

/** Chars that a line adds to the summary, its newline included; `isFirst`: the first of its section. */
export function lineCost(
  item: Pick<SummaryItem, 'heading' | 'text'>,
  isFirst: boolean,
  layout: Layout,
): number {
  if (layout === 'plain') return item.text.length + 1;
  return item.text.length + 3 + (isFirst ? item.heading.length + 4 : 0);
}

/** Writes the items under their headings, known headings first, empty ones left out. */
export function writeSummary(items: readonly SummaryItem[], layout: Layout): string {
  const inOrder = items.toSorted((a, b) => a.order - b.order);
  if (layout === 'plain') return inOrder.map(({ text }) => text).join('\n');
  const sections = new Map<string, string[]>();
  for (const { heading } of Object.values(SUMMARY_HEADINGS)) sections.set(heading, []);
  for (const { heading, text } of inOrder) {
    const lines = sections.get(heading) ?? [];
    lines.push(`- ${text}`);
    sections.set(heading, lines);
  }
  return [...sections]
    .filter(([, lines]) => lines.length > 0)
    .map(([heading, lines]) => `## ${heading}\n${lines.join('\n')}`)
    .join('\n');
}
