/** One message of a test transcript: its label without brackets, and its text. */
export type Line = readonly [label: string, text: string];

/** Renders messages as a transcript: label line, text, blank line between messages. */
export function transcriptOf(...messages: readonly Line[]): string {
  return messages.map(([label, text]) => `[${label}]\n${text}`).join('\n\n');
}

/** The items under one heading of a summary, without their bullets; [] when the heading is missing. */
export function itemsUnder(summary: string, heading: string): string[] {
  const lines = summary.split('\n');
  const start = lines.indexOf(`## ${heading}`);
  if (start === -1) return [];
  const rest = lines.slice(start + 1);
  const end = rest.findIndex((line) => line.startsWith('## '));
  return (end === -1 ? rest : rest.slice(0, end)).map((line) => line.slice(2));
}
