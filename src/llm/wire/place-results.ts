import { resultHomes } from './result-homes.js';
import { trailingResults } from './trailing-results.js';
import type { WireMessage } from './wire-message.js';

/**
 * Puts each tool result into the run directly behind the message whose call it answers, in stored order:
 * servers refuse it anywhere else. So a result that came late, after other messages, stands where it would
 * have stood in time.
 *
 * A result that answers no call is dropped, and so is a second one for the same call. It is not made a user
 * message: what a tool wrote would then speak with the user's authority. The one exception is a list that
 * would have nothing left to answer; see `trailingResults`.
 */
export function placeResults(messages: readonly WireMessage[]): readonly WireMessage[] {
  const homes = resultHomes(messages);
  const results = new Map<number, WireMessage[]>();
  for (const [index, message] of messages.entries()) {
    const home = homes.get(index);
    if (home === undefined) continue;
    const run = results.get(home);
    if (run === undefined) results.set(home, [message]);
    else run.push(message);
  }
  const placed = messages.flatMap((message, index) =>
    message.role === 'tool' ? [] : [message, ...(results.get(index) ?? [])],
  );
  return [...placed, ...trailingResults(messages, placed, homes)];
}
