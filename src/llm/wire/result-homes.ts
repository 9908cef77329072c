import { callsOf, type WireMessage } from './wire-message.js';

/** Calls of one step that share an id, as the indexes of their messages, and the results after them that have it. */
interface Alike {
  readonly step: number;
  readonly homes: number[];
  readonly results: number[];
}

/**
 * Which assistant message each tool result answers, both as indexes. A result answers the nearest call before
 * it that has its id, wherever it stands: some endpoints count their ids from the start in every turn. Each
 * call takes one result, the first. A result that is not in the map answers no call, or one that has been
 * answered.
 *
 * Calls that share an id within one step, in one message or in several directly one after another, take one
 * result each, in their order: clients that store a message per call, from a server that names no ids, would
 * otherwise lose all results but one. When there are fewer results, the messages that go without are the first,
 * as when a step was cut off and begun again.
 */
export function resultHomes(messages: readonly WireMessage[]): ReadonlyMap<number, number> {
  const nearest = new Map<string, Alike>();
  const all: Alike[] = [];
  let step = 0;
  for (const [index, message] of messages.entries()) {
    const calls = callsOf(message);
    if (calls.length === 0) step += 1;
    for (const { id = '' } of calls) {
      const known = nearest.get(id);
      if (known?.step === step) {
        known.homes.push(index);
      } else {
        const alike: Alike = { step, homes: [index], results: [] };
        nearest.set(id, alike);
        all.push(alike);
      }
    }
    if (message.role === 'tool') nearest.get(message.tool_call_id ?? '')?.results.push(index);
  }
  return new Map(all.flatMap(paired));
}

function paired({ homes, results }: Alike): (readonly [result: number, home: number])[] {
  const without = Math.max(0, homes.length - results.length);
  return results.flatMap((result, i) => {
    const home = homes[without + i];
    return home === undefined ? [] : [[result, home] as const];
  });
}
