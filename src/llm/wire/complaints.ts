import { COMPLAINTS, type Step } from './complaint-table.js';
import { isOn, type WireOptions, type WireSwitch } from './options.js';

/**
 * The options that a complaint asks for and that are not set yet; null when it is about something else, or when
 * all that could help is set. An endpoint need complain only once: the caller keeps what came of it for that
 * endpoint and model, as `WireMemory` does.
 *
 * @param text the message of a refused request, as the endpoint wrote it
 * @param set what the refused request was written with
 */
export function wantedByComplaint(text: string, set: WireOptions = {}): WireOptions | null {
  const wanted: Partial<Record<WireSwitch, boolean>> = {};
  let some = false;
  for (const { says, steps } of COMPLAINTS) {
    const next = says.test(text) ? steps.find((step) => !isSet(set, step)) : undefined;
    if (next === undefined) continue;
    wanted[next[0]] = next[1];
    some = true;
  }
  return some ? wanted : null;
}

function isSet(options: WireOptions, [option, on]: Step): boolean {
  return isOn(options, option) === on;
}
