import { isShortId, shortId } from './short-id.js';
import { callsOf, type WireMessage, type WireToolCall } from './wire-message.js';

/**
 * No two calls may share an id, and none may have an empty one: servers then refuse the request, or pair a
 * result with the wrong call. Histories have both, from servers that count from 0 in each turn or name no id
 * at all. Other servers ask for a form on top, such as 9 letters and digits exactly, which a history that
 * changed vendors does not have. So calls get ids that do, and results, which stand behind their calls by
 * now, follow them in order.
 *
 * An id depends on the old one and on how many calls before have had the same: messages added later change
 * nothing before them, which prompt caches depend on. An id that may stay and is not taken yet stays.
 *
 * @param short whether only ids of 9 letters and digits may stay
 */
export function callIds(messages: readonly WireMessage[], short: boolean): readonly WireMessage[] {
  const ids = new Ids(short);
  /**
   * New ids of the calls whose result is still to come, by old id; of calls that share one, the first is
   * answered first. Every call has a result directly behind it by now, which uses its entry up.
   */
  const renamed = new Map<string, string[]>();
  const withId = (call: WireToolCall): WireToolCall => {
    const old = call.id ?? '';
    const id = ids.of(old);
    const alike = renamed.get(old);
    if (alike === undefined) renamed.set(old, [id]);
    else alike.push(id);
    return id === call.id ? call : { ...call, id };
  };
  return messages.map((message) => {
    if (message.role === 'tool') {
      const id = renamed.get(message.tool_call_id ?? '')?.shift();
      return id === undefined || id === message.tool_call_id ? message : { ...message, tool_call_id: id };
    }
    const calls = callsOf(message);
    const withIds = calls.map(withId);
    return withIds.every((call, i) => call === calls[i]) ? message : { ...message, tool_calls: withIds };
  });
}

class Ids {
  readonly #short: boolean;
  readonly #taken = new Set<string>();
  readonly #occurrences = new Map<string, number>();

  constructor(short: boolean) {
    this.#short = short;
  }

  of(old: string): string {
    const occurrence = this.#occurrences.get(old) ?? 0;
    this.#occurrences.set(old, occurrence + 1);
    const mayStay = this.#short ? isShortId(old) : old !== '';
    let id = mayStay ? old : shortId(`${occurrence}:${old}`);
    for (let attempt = 1; this.#taken.has(id); attempt += 1) id = shortId(`${occurrence}:${old}:${attempt}`);
    this.#taken.add(id);
    return id;
  }
}
