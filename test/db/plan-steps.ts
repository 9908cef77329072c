/** A statement as it ran. */
export interface RanStatement {
  readonly text: string;
  readonly values: readonly unknown[];
}

/** One step of how a database runs a statement, in its own words. */
export interface ReadStep {
  readonly detail: string;
  /** Whether it grows with the database: reads a whole table, or sorts or passes over many rows. */
  readonly bad: boolean;
}

/** A statement with all its steps, those that are wrong marked. */
export interface BadStatement {
  readonly use: string;
  readonly steps: readonly string[];
  readonly text: string;
}

/** What was seen of the statements of one use. */
export interface Looked {
  readonly use: string;
  readonly statements: number;
  readonly bad: readonly BadStatement[];
}

/** Looks at each statement of each use, with all its values. */
export async function lookAt(
  ran: ReadonlyMap<string, readonly RanStatement[]>,
  stepsOf: (statement: RanStatement) => Promise<ReadStep[]>,
): Promise<Looked[]> {
  const looked: Looked[] = [];
  for (const [use, all] of ran) {
    const statements = all.filter(({ text }) => isPlanned(text));
    const bad: BadStatement[] = [];
    for (const statement of statements) {
      const steps = await stepsOf(statement);
      if (steps.some((step) => step.bad))
        bad.push({ use, steps: steps.map(marked), text: shortened(statement.text) });
    }
    looked.push({ use, statements: statements.length, bad });
  }
  return looked;
}

const marked = ({ detail, bad }: ReadStep) => (bad ? `!! ${detail}` : detail);

/** Rows that are only stored need no plan. */
function isPlanned(text: string): boolean {
  return /^\s*(with|select|update|delete)\b/i.test(text) || /\bon conflict\b/i.test(text);
}

/** Without the columns that are read, which say nothing about how rows are found. */
function shortened(text: string): string {
  return text.replace(/^select .*? from (?!\()/, 'select ... from ').replaceAll('"', '');
}
