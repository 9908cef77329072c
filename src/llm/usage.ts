import { countOf, listOf, member } from './narrow.js';
import type { Usage } from './outcome.js';

export const NO_USAGE: Usage = { inputTokens: null, outputTokens: null };

/**
 * The usage in one JSON document, wherever vendors put it: at the top, in the first choice, or under `x_groq`.
 * Numbers that are no counts are null. A prompt of 0 tokens does not exist, so gateways that fill the object
 * with zeros have said nothing.
 */
export function usageIn(document: unknown): Usage {
  const places = [
    member(document, 'usage'),
    member(listOf(member(document, 'choices'))[0], 'usage'),
    member(member(document, 'x_groq'), 'usage'),
  ];
  return places.map(readUsage).reduce(latest, NO_USAGE);
}

function readUsage(usage: unknown): Usage {
  const input = countOf(member(usage, 'prompt_tokens')) ?? countOf(member(usage, 'input_tokens'));
  const output = countOf(member(usage, 'completion_tokens')) ?? countOf(member(usage, 'output_tokens'));
  if (input === null || input === 0) return { inputTokens: null, outputTokens: output === 0 ? null : output };
  return { inputTokens: input, outputTokens: output };
}

/** Within one reply the later report replaces the earlier one: some endpoints send a running total per chunk. */
export function latest(earlier: Usage, later: Usage): Usage {
  return {
    inputTokens: later.inputTokens ?? earlier.inputTokens,
    outputTokens: later.outputTokens ?? earlier.outputTokens,
  };
}

/** Over several requests usage adds up; a side that nobody reported stays null. */
export function sum(a: Usage, b: Usage): Usage {
  return {
    inputTokens: add(a.inputTokens, b.inputTokens),
    outputTokens: add(a.outputTokens, b.outputTokens),
  };
}

function add(a: number | null, b: number | null): number | null {
  return a === null ? b : a + (b ?? 0);
}
