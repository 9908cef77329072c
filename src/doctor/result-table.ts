import { wrapText } from '../cli/wrap-text.js';
import type { Row } from './check.js';

const WIDTH = 100;
const GAP = '  ';
const HEADINGS = ['check', 'result', 'seen', 'what to do'] as const;
/** Longest text in a cell: an endpoint's error may be a page. */
const CELL_CHARS = 240;

/** The rows as lines of at most 100 columns, long texts broken between words. */
export function resultTable(rows: readonly Row[]): string[] {
  const cells = rows.map(({ check, result, seen, advice }) => [check, result, cut(seen), cut(advice)]);
  const longest = (column: number): number =>
    Math.max(HEADINGS[column]?.length ?? 0, ...cells.map((row) => row[column]?.length ?? 0));
  const [check, result, advice] = [longest(0), longest(1), longest(3)];
  const room = WIDTH - check - result - 3 * GAP.length;
  const seen = Math.min(longest(2), Math.max(Math.floor(room / 2), room - advice));
  const widths = [check, result, seen, Math.min(advice, room - seen)];
  return [
    ...linesOf(HEADINGS, widths),
    widths.map((width) => '-'.repeat(width)).join(GAP),
    ...cells.flatMap((row) => linesOf(row, widths)),
  ];
}

function linesOf(cells: readonly string[], widths: readonly number[]): string[] {
  const columns = widths.map((width, index) => wrapText(cells[index] ?? '', width));
  const height = Math.max(...columns.map((lines) => lines.length));
  return Array.from({ length: height }, (_, line) =>
    columns
      .map((lines, column) => (lines[line] ?? '').padEnd(widths[column] ?? 0))
      .join(GAP)
      .trimEnd(),
  );
}

function cut(text: string): string {
  return text.length <= CELL_CHARS ? text : `${text.slice(0, CELL_CHARS - 1).toWellFormed()}…`;
}
