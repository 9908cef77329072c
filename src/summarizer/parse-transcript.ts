/** Who speaks in a message of the transcript; `unknown` for a piece that begins in the middle of one. */
export type SpeakerRole = 'user' | 'assistant' | 'call' | 'result' | 'unknown';

export interface TranscriptMessage {
  readonly role: SpeakerRole;
  /** The tool of a call or of a result; null for talk and for a result whose call is unknown. */
  readonly tool: string | null;
  /** Everything under the label, outer white space removed; may be ''. */
  readonly text: string;
}

type Label = Pick<TranscriptMessage, 'role' | 'tool'>;

/** A longer first line is text: reading it as a label would lose it. */
const MAX_LABEL_CHARS = 300;

/**
 * Takes a rendered transcript apart into its messages, in order, blank ones included. A label counts only at
 * the very start or after a blank line; any other bracketed line (`[image]`) is text of the message around it.
 * Linear in the length of the transcript.
 */
export function parseTranscript(transcript: string): TranscriptMessage[] {
  const messages: TranscriptMessage[] = [];
  let label: Label = { role: 'unknown', tool: null };
  let bodyStart = 0;
  const finish = (end: number): void => {
    const text = transcript.slice(bodyStart, end).trim();
    if (text !== '' || label.role !== 'unknown') messages.push({ ...label, text });
  };
  let at = transcript.startsWith('[') ? 0 : nextBracket(transcript, 0);
  while (at !== -1) {
    const found = readLabel(transcript, at);
    if (found !== null) {
      finish(at);
      label = found.label;
      bodyStart = found.end;
    }
    at = nextBracket(transcript, at);
  }
  finish(transcript.length);
  return messages;
}

/** The next `[` that opens a line after a blank line, from `from` on; -1 when there is none. */
function nextBracket(transcript: string, from: number): number {
  const found = transcript.indexOf('\n\n[', from);
  return found === -1 ? -1 : found + 2;
}

function readLabel(transcript: string, at: number): { label: Label; end: number } | null {
  const head = transcript.slice(at, at + MAX_LABEL_CHARS);
  const newline = head.indexOf('\n');
  if (newline === -1 && head.length === MAX_LABEL_CHARS) return null;
  const line = (newline === -1 ? head : head.slice(0, newline)).trimEnd();
  const label = line.endsWith(']') ? parseLabel(line.slice(1, -1)) : null;
  return label === null ? null : { label, end: at + (newline === -1 ? head.length : newline) };
}

const OTHER_ROLES = ['system', 'developer', 'function'];
const CALLS = ' calls ';
const RESULT_OF = 'result of ';

/** Behind the label of a message whose beginning was in the piece before. */
const CONTINUED = ' (continued)';

function parseLabel(line: string): Label | null {
  const inside = line.endsWith(CONTINUED) ? line.slice(0, -CONTINUED.length) : line;
  if (inside.startsWith(RESULT_OF)) return { role: 'result', tool: inside.slice(RESULT_OF.length) };
  if (inside === 'tool result') return { role: 'result', tool: null };
  if (startsWithRole(inside, 'user')) return { role: 'user', tool: null };
  if (startsWithRole(inside, 'assistant')) {
    const calls = inside.indexOf(CALLS);
    if (calls !== -1) return { role: 'call', tool: inside.slice(calls + CALLS.length) };
    return { role: 'assistant', tool: null };
  }
  const isOther = OTHER_ROLES.some((role) => startsWithRole(inside, role));
  return isOther ? { role: 'unknown', tool: null } : null;
}

/** Whether a label is the bare role, the role with a name in brackets, or the role with a call. */
function startsWithRole(inside: string, role: string): boolean {
  if (inside === role) return true;
  if (inside.startsWith(`${role} (`) && (inside.endsWith(')') || inside.includes(`)${CALLS}`))) return true;
  return role === 'assistant' && inside.startsWith(role + CALLS);
}
