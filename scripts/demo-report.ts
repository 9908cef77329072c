import { styleText } from 'node:util';
import { count, counted } from '../src/cli/number-text.js';
import { tableLines } from '../src/cli/table.js';
import { wrapText } from '../src/cli/wrap-text.js';
import type { DemoStep } from './demo-steps.js';

/** Nothing that is printed is wider, in columns. */
const WIDTH = 100;
const HEADINGS = [
  'step',
  'folded',
  'compact_size',
  'chars before',
  'chars after',
  'saved',
  'messages in context',
];

/** Bold on a terminal, plain in a pipe or file. */
export function heading(text: string): string {
  const plain = process.stdout.isTTY !== true || (process.env['NO_COLOR'] ?? '') !== '';
  return plain ? text : styleText('bold', text);
}

/** Which summarizer the environment asks for, in one line. */
export function summarizerLine(env: NodeJS.ProcessEnv): string {
  const model = env['COMPACT_MODEL']?.trim() || env['MAIN_MODEL']?.trim();
  const url = env['COMPACT_BASE_URL']?.trim() || env['OPENAI_BASE_URL']?.trim();
  if (model) return `written by the model ${model}${url ? ` at ${new URL(url).origin}` : ''}`;
  if (url) return 'no model is set (MAIN_MODEL, COMPACT_MODEL) for the base URL: embedded summarizer';
  return 'no model is set: embedded summarizer, which only picks sentences';
}

export function stepTable(steps: readonly DemoStep[]): string[] {
  const rows = steps.map(({ folded, compactSize, charsBefore, charsAfter, contextMessages }, index) => [
    String(index + 1),
    count(folded),
    count(compactSize),
    charsBefore === null ? '-' : count(charsBefore),
    charsAfter === null ? '-' : count(charsAfter),
    percentSaved(charsBefore, charsAfter),
    count(contextMessages),
  ]);
  return tableLines(HEADINGS, rows);
}

export function totalLine(steps: readonly DemoStep[], messageCount: number): string {
  const measured = steps.filter((step) => step.charsAfter !== null);
  const before = measured[0]?.charsBefore ?? null;
  const after = measured.at(-1)?.charsAfter ?? null;
  if (before === null || after === null) return 'There was nothing to fold.';
  const saved = percentSaved(before, after);
  return `${count(before)} chars became ${count(after)}: ${saved} saved. All ${counted(messageCount, 'message')} are still stored, word for word.`;
}

export function summaryHeading(summary: string, steps: readonly DemoStep[]): string {
  const models = [...new Set(steps.flatMap(({ model }) => (model === null ? [] : [model])))];
  return `Summary after step ${steps.length} (${counted(summary.length, 'char')}, by ${models.join(' and ')})`;
}

export function paragraph(text: string): string[] {
  return wrapText(text, WIDTH, '  ');
}

function percentSaved(before: number | null, after: number | null): string {
  if (before === null || after === null || before === 0) return '-';
  return `${Math.round((100 * (before - after)) / before)}%`;
}
