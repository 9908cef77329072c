import { headerFault } from './extra-headers.js';
import { isRecord, parseJson } from './narrow.js';
import { OWN_FIELDS } from './request-body.js';

/** A setting that was read, or what is wrong with it: the end of a sentence that repeats no value. */
export type Setting<Value> = { readonly value: Value } | { readonly fault: string };

/** Headers for every request, from a JSON object of strings. */
export function extraHeadersIn(text: string): Setting<Readonly<Record<string, string>>> {
  const document = parseJson(text);
  if (!isRecord(document)) return { fault: 'must be a JSON object of strings' };
  const headers: Record<string, string> = {};
  for (const [name, value] of Object.entries(document)) {
    if (typeof value !== 'string') return { fault: 'must be a JSON object of strings' };
    const fault = headerFault(name, value);
    if (fault !== null) return { fault };
    headers[name] = value;
  }
  return { value: headers };
}

/** Fields for the body of every request, from a JSON object. */
export function extraBodyIn(text: string): Setting<Readonly<Record<string, unknown>>> {
  const document = parseJson(text);
  if (!isRecord(document)) return { fault: 'must be a JSON object' };
  const own = OWN_FIELDS.find((name) => Object.hasOwn(document, name));
  return own === undefined ? { value: document } : { fault: `must not set ${own}` };
}
