import { styleText } from 'node:util';
import { count } from '../src/cli/number-text.js';

export interface ChartRow {
  readonly turn: number;
  /** Of the context that was sent. */
  readonly tokens: number;
  /** Of the context that was over the limit, before it was compacted; null where it was not. */
  readonly tokensBefore: number | null;
  /** What the turn was about; cut to what fits. */
  readonly note: string;
}

/** How a piece of the chart is shown; without colours, as it is. */
export type Paint = (style: 'cyan' | 'red' | 'dim' | 'bold', text: string) => string;

export const PLAIN: Paint = (_, text) => text;
export const COLOURED: Paint = (style, text) => styleText(style, text, { validateStream: false });

/** Columns: of a whole line at most, of a bar, and of its part up to the limit. */
const WIDTH = 100;
const BAR = 40;
const LIMIT_AT = 32;

/** The line above the bars: where the limit is. */
export function chartHead(limit: number, paint: Paint): string {
  const label = `limit ${count(limit)}`;
  return `${'turn'.padStart(4)}  ${'tokens'.padStart(6)}  ${' '.repeat(LIMIT_AT - label.length)}${paint('red', `${label}|`)}`;
}

/**
 * One turn as a line: the context as a bar, what was folded away in a lighter shade behind it, and the limit as a
 * line through all of them.
 */
export function chartLine(
  { turn, tokens, tokensBefore, note }: ChartRow,
  limit: number,
  paint: Paint,
): string {
  const cells = (amount: number) => Math.min(BAR, Math.round((amount / limit) * LIMIT_AT));
  const filled = cells(tokens);
  const folded = Math.max(0, cells(tokensBefore ?? 0) - filled);
  const bar = `${'█'.repeat(filled)}${'░'.repeat(folded)}`.padEnd(BAR);
  const below = Math.min(filled, LIMIT_AT);
  const [kept, gone] = [bar.slice(0, below), bar.slice(below, LIMIT_AT)];
  const head = `${String(turn).padStart(4)}  ${count(tokens).padStart(6)}  `;
  const drawn = `${paint('cyan', kept)}${paint('dim', gone)}${paint('red', '|')}${paint('red', bar.slice(LIMIT_AT))}`;
  const room = WIDTH - head.length - BAR - 3;
  const text =
    tokensBefore === null
      ? paint('dim', cut(note, room))
      : paint('bold', cut(`compacted from ${count(tokensBefore)}`, room));
  return `${head}${drawn}  ${text}`.trimEnd();
}

function cut(text: string, room: number): string {
  const line = text.replace(/\s+/g, ' ');
  return line.length <= room ? line : `${line.slice(0, room - 3).trimEnd()}...`;
}
