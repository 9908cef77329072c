/** Between two columns. */
const GAP = '   ';

/** Lines of a table with right-aligned columns, as numbers want it; a rule under the headings. */
export function tableLines(headings: readonly string[], rows: readonly (readonly string[])[]): string[] {
  const widths = headings.map((heading, column) =>
    Math.max(heading.length, ...rows.map((row) => (row[column] ?? '').length)),
  );
  const line = (cells: readonly string[]) =>
    widths.map((width, column) => (cells[column] ?? '').padStart(width)).join(GAP);
  return [line(headings), widths.map((width) => '-'.repeat(width)).join(GAP), ...rows.map(line)];
}
