import { callsOf, type WireMessage } from './wire-message.js';

/**
 * Which assistant message each tool result answers, both as indexes. A result answers the nearest call before
 * it that has its id, wherever it stands: some endpoints count their ids from the start in every turn. Each
 * call takes one result, the first; two calls of one message that share an id take one each. A result that is
 * not in the map answers no call, or one that has been answered.
 */
export function resultHomes(messages: readonly WireMessage[]): ReadonlyMap<number, number> {
  const nearest = new Map<string, { readonly home: number; open: number }>();
  const homes = new Map<number, number>();
  for (const [index, message] of messages.entries()) {
    for (const { id = '' } of callsOf(message)) {
      const known = nearest.get(id);
      if (known?.home === index) known.open += 1;
      else nearest.set(id, { home: index, open: 1 });
    }
    const call = message.role === 'tool' ? nearest.get(message.tool_call_id ?? '') : undefined;
    if (call === undefined || call.open === 0) continue;
    call.open -= 1;
    homes.set(index, call.home);
  }
  return homes;
}
