import type { ErrorFacts } from './error-facts.js';

/** Texts that name the parameter they refuse, where the document has no field for it. */
const NAMING_TEXTS = [
  /unknown name "([\w.[\]]+)"/i,
  /property '([\w.[\]]+)' is unsupported/i,
  /does not support parameter '?"?(\w+)/i,
  /unsupported parameter: '?"?([\w.]+)/i,
  /unrecognized request argument supplied: (\w+)/i,
  /'(max_tokens)' or 'max_completion_tokens' is too large/i,
];

/** The request parameter that a refusal is about, in snake case as it was sent; null when it names none. */
export function namedParameter(facts: ErrorFacts): string | null {
  const match = NAMING_TEXTS.map((regexp) => regexp.exec(facts.text)).find((found) => found !== null);
  const name = facts.param ?? match?.[1] ?? null;
  return name === null ? null : name.replace(/[a-z][A-Z]/g, (pair) => `${pair[0]}_${pair[1]?.toLowerCase()}`);
}
