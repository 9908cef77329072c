import { isShortId, shortId } from './short-id.js';
import { callsOf, type WireMessage } from './wire-message.js';

/**
 * Servers differ in the call ids they take: 9 letters and digits exactly, at most 40 chars, no two alike,
 * never empty. A history that changed vendors, or comes from one that counts from 0 in each turn, breaks
 * these rules. So calls get ids that all servers take, and results follow their calls.
 *
 * An id depends on the old one and on how many calls before have had the same: messages added later change
 * nothing before them, which prompt caches depend on. An id that has the form and is not taken yet stays.
 */
export function shortCallIds(messages: readonly WireMessage[]): readonly WireMessage[] {
  const taken = new Set<string>();
  const occurrences = new Map<string, number>();
  /**
   * New ids of the calls whose result is still to come, by old id; of calls that share one, the first is
   * answered first. Every call has a result directly behind it by now, which uses its entry up.
   */
  const renamed = new Map<string, string[]>();
  return messages.map((message) => {
    if (message.role === 'tool') {
      const id = renamed.get(message.tool_call_id ?? '')?.shift();
      return id === undefined || id === message.tool_call_id ? message : { ...message, tool_call_id: id };
    }
    const calls = callsOf(message);
    if (calls.length === 0) return message;
    const withIds = calls.map((call) => {
      const old = call.id ?? '';
      const occurrence = occurrences.get(old) ?? 0;
      occurrences.set(old, occurrence + 1);
      const id = freeId(old, occurrence, taken);
      taken.add(id);
      const alike = renamed.get(old);
      if (alike === undefined) renamed.set(old, [id]);
      else alike.push(id);
      return id === call.id ? call : { ...call, id };
    });
    return withIds.every((call, i) => call === calls[i]) ? message : { ...message, tool_calls: withIds };
  });
}

function freeId(old: string, occurrence: number, taken: ReadonlySet<string>): string {
  let id = isShortId(old) ? old : shortId(`${occurrence}:${old}`);
  for (let attempt = 1; taken.has(id); attempt += 1) id = shortId(`${occurrence}:${old}:${attempt}`);
  return id;
}
