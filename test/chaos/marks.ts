/**
 * Every message of a run carries a mark of its own, such as `[m:chat-17]`. What became of a message can then be told
 * from any text that it went into: a context, a transcript, a summary.
 */

let count = 0;

export function newMark(kind: string): string {
  count += 1;
  return `[m:${kind}-${count}]`;
}

/** The marks of a text, in order, each as often as it is there. */
export function marksIn(text: string): string[] {
  return text.match(/\[m:[a-z]+-\d+\]/g) ?? [];
}

/** Those that are there more than once. */
export function repeated(marks: readonly string[]): string[] {
  return [...new Set(marks.filter((mark, index) => marks.indexOf(mark) !== index))];
}

/** What one list has that the other has not. */
export function without(all: Iterable<string>, others: ReadonlySet<string>): string[] {
  return [...all].filter((mark) => !others.has(mark));
}
