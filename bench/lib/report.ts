/** One line of the result. */
export interface ReportRow {
  readonly name: string;
  /** The absolute figures, with units: they depend on the machine and are there for information. */
  readonly measured: string;
  /** What is compared with the aim; null where there is nothing to compare. */
  readonly value: string | null;
  readonly aim: string | null;
  readonly met: boolean | null;
}

/** A ratio that should stay at or below `most`. */
export function ratioAtMost(name: string, measured: string, ratio: number, most: number): ReportRow {
  return { name, measured, value: `x${ratio.toFixed(2)}`, aim: `<= x${most}`, met: ratio <= most };
}

export function ratioAtLeast(name: string, measured: string, ratio: number, least: number): ReportRow {
  return { name, measured, value: `x${ratio.toFixed(2)}`, aim: `>= x${least}`, met: ratio >= least };
}

/** A time that should stay below `most`, in ms. */
export function msBelow(name: string, measured: string, value: number, most: number): ReportRow {
  return { name, measured, value: ms(value), aim: `< ${most} ms`, met: value < most };
}

/** A figure to put beside others; nothing is aimed at. */
export function information(name: string, measured: string, ratio?: number): ReportRow {
  const value = ratio === undefined ? null : `x${ratio.toFixed(2)}`;
  return { name, measured, value, aim: null, met: null };
}

export function ms(value: number): string {
  return `${value < 10 ? value.toFixed(3) : value.toFixed(1)} ms`;
}

export function table(rows: readonly ReportRow[]): string {
  const cells = [
    ['name', 'measured', 'ratio', 'aim', 'met'],
    ...rows.map(({ name, measured, value, aim, met }) => [
      name,
      measured,
      value ?? '',
      aim ?? '',
      met === null ? '' : met ? 'yes' : 'NO',
    ]),
  ];
  const widths = [0, 1, 2, 3, 4].map((column) => Math.max(...cells.map((row) => row[column]?.length ?? 0)));
  return cells
    .map((row) =>
      row
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
}
