import type { ErrorFacts } from './error-facts.js';

/** Texts that name the parameter they refuse, where the document has no field for it. */
const NAMING_TEXTS = [
  /unknown name "([\w.[\]]+)"/i,
  /property '([\w.[\]]+)' is unsupported/i,
  /does not support parameters?:? [[{]?['"]?(\w+)/i,
  /unsupported parameter: '?"?([\w.]+)/i,
  /unrecognized request arguments? supplied: (\w+)/i,
  /unexpected keyword argument '(\w+)'/i,
  /'(max_tokens)' or 'max_completion_tokens' is too large/i,
  /[`'"]?(max_\w{0,20}tokens)[`'"]? is too large/i,
  /[`'"](\w+)[`'"] must be less than or equal to/i,
  /invalid (max_\w{0,20}tokens) value/i,
  /range of (max_\w{0,20}tokens) should be/i,
  /(max_\w{0,20}tokens|maxOutputTokens):? (?:\d{1,12} > \d{1,12}, which|value of \d)/i,
  /unknown (?:parameter|field|argument)s?:? [`'"]?(\w+)/i,
];
/** Texts that name it only if the word is a parameter: in others the same words are about anything. */
const HINTING_TEXTS = [
  /use [`'"]?(max_completion_tokens)/i,
  /\b(\w{1,40})[`'"]?(?: parameter| field)? is not supported/i,
];

/** The request parameter that a refusal is about, in snake case as it was sent; null when it names none. */
export function namedParameter(facts: ErrorFacts): string | null {
  if (facts.param !== null) return snakeCase(facts.param);
  const match = NAMING_TEXTS.map((regexp) => regexp.exec(facts.text)?.[1]).find((name) => name !== undefined);
  return match === undefined ? null : snakeCase(match);
}

/**
 * Every parameter that a refusal may be about, the likeliest first, without the path below it
 * (`stream_options.include_usage` is about `stream_options`). The field alone does not do: some gateways put
 * something else into it.
 */
export function parametersNamed(facts: ErrorFacts): readonly string[] {
  const texts = [...NAMING_TEXTS, ...HINTING_TEXTS].map((regexp) => regexp.exec(facts.text)?.[1]);
  return [facts.param, ...texts]
    .filter((name) => name !== null && name !== undefined)
    .map((name) => snakeCase(name).replace(/[.[].*$/, ''));
}

function snakeCase(name: string): string {
  return name.replace(/[a-z][A-Z]/g, (pair) => `${pair[0]}_${pair[1]?.toLowerCase()}`);
}
