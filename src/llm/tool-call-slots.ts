import { randomUUID } from 'node:crypto';
import { isRecord, member, nonBlank, parseJson } from './narrow.js';
import type { ToolCall } from './outcome.js';

interface Slot {
  id: string | null;
  name: string;
  arguments: string;
  extra: Readonly<Record<string, unknown>>;
  readonly index: number | null;
  /** The delta list that opened it; tells two whole calls of one list from two fragments of one call. */
  readonly list: number;
}

/**
 * Puts the fragments of streamed tool calls together. Endpoints disagree on how a fragment says which call it
 * belongs to: right indexes; no index; index 0 for all of them; an id in each fragment or in the first only; the
 * name repeated in each. An id decides where there is one, then the index, then the order.
 */
export class ToolCallSlots {
  readonly #slots: Slot[] = [];
  #lists = 0;

  /** Takes the `tool_calls` list of one stream chunk. */
  addDeltas(deltas: readonly unknown[]): void {
    this.#lists += 1;
    for (const delta of deltas) if (isRecord(delta)) this.#fill(this.#slotFor(delta), delta);
  }

  /** Takes the `tool_calls` list of a complete message: each entry is one call, whatever its id and index. */
  addWhole(calls: readonly unknown[]): void {
    this.#lists += 1;
    for (const call of calls) if (isRecord(call)) this.#fill(this.#open(call), call);
  }

  get isEmpty(): boolean {
    return this.#slots.length === 0;
  }

  calls(): ToolCall[] {
    return this.#slots
      .filter((slot) => slot.name !== '' || slot.arguments !== '')
      .map((slot) => ({
        // Results are matched to calls by id, so a call without one would be unanswerable.
        id: slot.id ?? `call_${randomUUID().replaceAll('-', '').slice(0, 24)}`,
        name: slot.name,
        arguments: plainArguments(slot.arguments),
        ...(Object.keys(slot.extra).length === 0 ? {} : { extra: slot.extra }),
      }));
  }

  #slotFor(delta: Readonly<Record<string, unknown>>): Slot {
    const id = nonBlank(delta['id']);
    const index = indexOf(delta);
    const name = nonBlank(member(delta['function'], 'name'));
    if (id !== null) {
      const known = this.#slots.find(
        (slot) => slot.id === id && (index === null || slot.index === null || slot.index === index),
      );
      if (known !== undefined) return known;
      // An id that arrives after the first fragment belongs to the call that was opened without one.
      const unnamed =
        index === null ? undefined : this.#last((slot) => slot.index === index && slot.id === null);
      return unnamed ?? this.#open(delta);
    }
    const candidate = this.#last((slot) => index === null || slot.index === index);
    return candidate === undefined || this.#startsAnother(candidate, name, index)
      ? this.#open(delta)
      : candidate;
  }

  /** Whether a fragment without an id, but with a name, begins a new call instead of continuing `slot`. */
  #startsAnother(slot: Slot, name: string | null, index: number | null): boolean {
    if (name === null) return false;
    if (slot.name !== '' && slot.name !== name) return true;
    return index === null && (slot.list === this.#lists || parseJson(slot.arguments) !== undefined);
  }

  #open(delta: Readonly<Record<string, unknown>>): Slot {
    const slot: Slot = {
      id: nonBlank(delta['id']),
      name: '',
      arguments: '',
      extra: {},
      index: indexOf(delta),
      list: this.#lists,
    };
    this.#slots.push(slot);
    return slot;
  }

  #last(test: (slot: Slot) => boolean): Slot | undefined {
    return this.#slots.findLast(test);
  }

  #fill(slot: Slot, delta: Readonly<Record<string, unknown>>): void {
    slot.id ??= nonBlank(delta['id']);
    // Replaced, never appended: several endpoints repeat the whole name in every fragment.
    slot.name = nonBlank(member(delta['function'], 'name')) ?? slot.name;
    slot.extra = { ...slot.extra, ...extraIn(delta) };
    const given = member(delta['function'], 'arguments');
    if (typeof given === 'string') slot.arguments += given;
    else if (isRecord(given) || Array.isArray(given)) slot.arguments = JSON.stringify(given);
  }
}

/** The objects beside `function`: signatures and the like, which their provider wants back. */
function extraIn(delta: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  return Object.fromEntries(
    Object.entries(delta).filter(
      ([name, value]) => name !== 'function' && isRecord(value) && Object.keys(value).length > 0,
    ),
  );
}

function indexOf(delta: Readonly<Record<string, unknown>>): number | null {
  const index = delta['index'];
  return typeof index === 'number' ? index : null;
}

/** No arguments are `{}`; arguments that were encoded twice lose one layer; anything else stays as written. */
function plainArguments(text: string): string {
  if (text.trim() === '') return '{}';
  const value = text.trimStart().startsWith('"') ? parseJson(text) : undefined;
  if (typeof value !== 'string') return text;
  return isRecord(parseJson(value)) ? value : text;
}
