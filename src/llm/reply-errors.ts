import { isRecord, member, nonBlank } from './narrow.js';
import { firstChoice } from './reply-accumulator.js';

/** Finish reasons with which an endpoint says that it failed, not that the reply is over. */
const FAILED_FINISH: readonly string[] = [
  'error',
  'network_error',
  'insufficient_system_resource',
  'model_context_window_exceeded',
];

/** Deeper than any vendor's errors are. */
const MAX_DEPTH = 6;

/**
 * The error that a JSON document of an answer with status 200 holds, as a document for `readErrorDocument`; null
 * when it holds none. Gateways have sent the 200 by the time the model fails, so the failure is in the body.
 */
export function errorIn(document: unknown): unknown {
  if (Array.isArray(document)) return document.length === 1 ? errorIn(document[0]) : null;
  if (!isRecord(document)) return null;
  if (isMeant(document['error'])) return document;
  if (document['object'] === 'error' || document['type'] === 'error') return document;
  const choice = firstChoice(document);
  const choiceError = member(choice, 'error');
  if (isMeant(choiceError)) return { error: choiceError };
  const finish = nonBlank(member(choice, 'finish_reason'));
  if (finish !== null && FAILED_FINISH.includes(finish)) {
    return { error: { code: finish, message: `The reply ended with the finish reason ${finish}` } };
  }
  return Object.hasOwn(document, 'choices') ? null : bareMessage(document);
}

/** Without any choice, a message or a detail is all that the document says. */
function bareMessage(document: Readonly<Record<string, unknown>>): unknown {
  const said = ['message', 'detail', 'html-message'].some((key) => isMeant(document[key]));
  return said ? document : null;
}

/** `null`, `false`, `0`, `""` and `{}` in an error field mean that there is none, and so does what holds only these. */
function isMeant(error: unknown, depth = 0): boolean {
  if (depth > MAX_DEPTH) return true;
  if (Array.isArray(error)) return error.some((entry) => isMeant(entry, depth + 1));
  if (isRecord(error)) return Object.values(error).some((value) => isMeant(value, depth + 1));
  return error === true || (typeof error === 'number' && error !== 0) || nonBlank(error) !== null;
}
