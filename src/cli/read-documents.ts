import { isUnfinished } from './json-slices.js';
import type { Line } from './read-lines.js';

/** Longest JSON file that is not JSON Lines, in UTF-16 units: it is one string. */
const MAX_DOCUMENT_CHARS = 256 * 1024 * 1024;

/** The text of one JSON value of the input, or why it cannot be read. */
export interface JsonDocument extends Line {
  /** True when it is the input as a whole; false when it is one line of many. `number` is its first line. */
  readonly whole: boolean;
}

/**
 * Tells JSON from JSON Lines by the beginning of the text, unless the caller knows that it is lines, and
 * gives one document or one per line.
 */
export async function* readDocuments(
  lines: AsyncIterable<Line>,
  knownAsLines: boolean,
): AsyncGenerator<JsonDocument> {
  const filled = withoutBlanks(lines);
  if (!knownAsLines) {
    const first = await next(filled);
    if (first === undefined) return;
    const second = await next(filled);
    if (second === undefined) return yield { ...first, whole: true };
    if (goesOn(first, second)) return yield await joined([first, second], filled);
    yield { ...first, whole: false };
    yield { ...second, whole: false };
  }
  for await (const line of filled) yield { ...line, whole: false };
}

/**
 * Whether the first line is the beginning of a value that ends on a later one. A line that was cut off by
 * accident has open brackets too, but rarely ends where a formatter breaks lines.
 */
function goesOn(first: Line, second: Line): boolean {
  if (first.text === null || !isUnfinished(first.text)) return false;
  return /[[{,:]\s*$/.test(first.text.slice(-100)) || !/^\s*[[{]/.test(second.text ?? '');
}

async function joined(head: readonly Line[], rest: AsyncIterable<Line>): Promise<JsonDocument> {
  const number = head[0]?.number ?? 1;
  const texts: string[] = [];
  let chars = 0;
  let problem: string | null = null;
  const add = (line: Line) => {
    chars += (line.text?.length ?? 0) + 1;
    if (line.text === null) problem ??= `line ${line.number} ${line.problem}`;
    else if (chars > MAX_DOCUMENT_CHARS) problem ??= 'is too large for one JSON value: use JSON Lines';
    else if (problem === null) texts.push(line.text);
  };
  for (const line of head) add(line);
  for await (const line of rest) add(line);
  return { number, text: problem === null ? texts.join('\n') : null, problem, whole: true };
}

async function* withoutBlanks(lines: AsyncIterable<Line>): AsyncGenerator<Line> {
  for await (const line of lines) if (line.text === null || line.text.trim() !== '') yield line;
}

async function next(lines: AsyncGenerator<Line>): Promise<Line | undefined> {
  const step = await lines.next();
  return step.done ? undefined : step.value;
}
