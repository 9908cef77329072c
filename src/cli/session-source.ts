import { scanBody } from '../json/scan-body.js';
import { memberName, topLevelParts } from './json-slices.js';
import type { JsonDocument } from './read-documents.js';

/** A session of the input, cut into texts that travel word for word. */
export interface SessionSource {
  /** The id that the input chose; null when it chose none, or something that is no string. */
  readonly id: string | null;
  /** All members but `messages`, each as `"key": value`. */
  readonly members: readonly string[];
  /** The messages, each as minified JSON text. */
  readonly messages: readonly string[];
  /** The same messages parsed, to be measured. */
  readonly values: readonly unknown[];
  /** True when the input is a list of messages: a pointer into it has no `/messages`. */
  readonly bare: boolean;
}

/** Why something of the input was not imported, and where in it, as an RFC 6901 pointer. */
export interface Fault {
  readonly pointer: string;
  readonly reason: string;
}

/** A session, or what is in its place, and where it was found: `line 7`, `element 3`. */
export type Found = { readonly place: string } & (
  | { readonly source: SessionSource; readonly fault: null }
  | { readonly source: null; readonly fault: Fault }
);

/** The sessions of a document: one, or those of a list of sessions. */
export function* findSessions(document: JsonDocument): Generator<Found> {
  const place = `line ${document.number}`;
  if (document.text === null) {
    return yield { place, source: null, fault: { pointer: '', reason: document.problem ?? '' } };
  }
  let value: unknown;
  try {
    value = JSON.parse(document.text);
  } catch (error) {
    const reason = `is not valid JSON: ${error instanceof Error ? error.message : String(error)}`;
    return yield { place, source: null, fault: { pointer: '', reason } };
  }
  if (!Array.isArray(value) || isListOfMessages(value))
    return yield { place, ...toSource(document.text, value) };
  for (const [index, text] of topLevelParts(document.text).entries()) {
    const element = `element ${index + 1}`;
    yield { place: document.whole ? element : `${place}, ${element}`, ...toSource(text, value[index]) };
  }
}

/** An empty list is one of sessions: it has none. */
function isListOfMessages(list: readonly unknown[]): boolean {
  return (
    list.length > 0 && !list.some((item) => Array.isArray(item) || (isObject(item) && 'messages' in item))
  );
}

type Source = { source: SessionSource; fault: null } | { source: null; fault: Fault };

function toSource(text: string, value: unknown): Source {
  const bare = Array.isArray(value);
  // A list is scanned as the body that it will be sent in.
  const body = bare ? `{"messages":${text}}` : text;
  const values = bare ? value : isObject(value) ? value['messages'] : undefined;
  if (!bare && !isObject(value)) return refuse('', 'must be a session or a list of messages');
  if (values === undefined) {
    const isMessage = isObject(value) && 'role' in value;
    return refuse('/messages', isMessage ? 'is required: this is a message, not a session' : 'is required');
  }
  if (!Array.isArray(values)) return refuse('/messages', 'must be array');
  const { messages, tooDeepAt } = scanBody(body);
  if (tooDeepAt !== null) return refuse(tooDeepAt, 'is nested more than 64 levels deep');
  const members = bare ? [] : topLevelParts(text).filter((member) => memberName(member) !== 'messages');
  const id = isObject(value) && typeof value['id'] === 'string' ? value['id'] : null;
  return { source: { id, members, messages, values, bare }, fault: null };
}

function refuse(pointer: string, reason: string): Source {
  return { source: null, fault: { pointer, reason } };
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
