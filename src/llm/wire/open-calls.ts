import { callsOf, type WireMessage } from './wire-message.js';

/**
 * The ids of a message's calls that none of these results answers, in the order of the calls. A result answers
 * one call, so of two calls that share an id one result leaves the other open.
 */
export function openCalls(message: WireMessage, results: readonly WireMessage[]): readonly string[] {
  const answers = new Map<string, number>();
  for (const { tool_call_id } of results) {
    answers.set(tool_call_id ?? '', (answers.get(tool_call_id ?? '') ?? 0) + 1);
  }
  return callsOf(message)
    .map(({ id }) => id ?? '')
    .filter((id) => {
      const left = answers.get(id) ?? 0;
      answers.set(id, left - 1);
      return left <= 0;
    });
}
