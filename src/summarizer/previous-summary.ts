import { SUMMARY_HEADINGS } from '../compaction/summary-headings.js';
import { hasWord } from './char-classes.js';
import { squeeze } from './cut-text.js';
import { type Draft, draftCarried } from './draft.js';
import { cutIntoFragments, splitSentences } from './split-sentences.js';

/** A longer line is a paragraph: it is taken sentence by sentence, else one item could fill the room. */
const MAX_ITEM_CHARS = 300;
const MAX_HEADING_CHARS = 80;

const KNOWN_HEADINGS = new Map(
  Object.values(SUMMARY_HEADINGS).map(({ heading }) => [heading.toLowerCase(), heading]),
);

/**
 * Takes a summary of any shape (its own earlier output, a model's, a person's) apart into items, in order,
 * each once. Bullets are taken off, so that writing and reading again adds none. Lines under a heading keep
 * it, also a heading in another language; lines under none are facts.
 */
export function parsePreviousSummary(summary: string): Draft[] {
  const drafts: Draft[] = [];
  const seen = new Set<string>();
  let heading: string = SUMMARY_HEADINGS.facts.heading;
  for (const line of summary.split(/[\n\r\u2028\u2029]/u)) {
    const text = squeeze(line);
    const found = readHeading(text);
    if (found !== null) {
      heading = found;
      continue;
    }
    for (const item of itemsOf(stripBullets(text))) {
      const key = item.toLowerCase();
      if (!hasWord(item) || seen.has(key)) continue;
      seen.add(key);
      drafts.push(draftCarried(item, heading));
    }
  }
  return drafts;
}

/**
 * Takes list marks, quote marks and heading marks off the front of a line. Numbers of a numbered list stay:
 * "option 2" may be spoken of later.
 */
export function stripBullets(line: string): string {
  let text = line.trimStart();
  for (;;) {
    const stripped = text.replace(/^(?:[-*+>•‣◦–—]|#{1,6})(?:\s+|$)/u, '');
    if (stripped === text) return text;
    text = stripped;
  }
}

function readHeading(line: string): string | null {
  const marked = /^#{1,6} (.+)$/u.exec(line)?.[1];
  const bare = (marked ?? line).replace(/^\*{1,2}|[*:：]+$/gu, '').trim();
  const known = bare.length > MAX_HEADING_CHARS ? undefined : KNOWN_HEADINGS.get(bare.toLowerCase());
  if (known !== undefined) return known;
  const isTitle = marked !== undefined && bare.length <= MAX_HEADING_CHARS && hasWord(bare);
  return isTitle ? bare : null;
}

function itemsOf(line: string): string[] {
  if (line.length <= MAX_ITEM_CHARS) return line === '' ? [] : [line];
  const items: string[] = [];
  for (const { text } of splitSentences(line)) {
    items.push(...(text.length > MAX_ITEM_CHARS ? cutIntoFragments(text, MAX_ITEM_CHARS) : [text]));
  }
  return items.map(stripBullets);
}
