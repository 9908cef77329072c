import type { WireToolNames } from './tool-names.js';
import { callsOf, type WireMessage, type WireToolCall } from './wire-message.js';

/**
 * The names of functions in calls, and in results that repeat them, as a server takes them; see
 * `wireToolNames`. A call of a function without a name gets one, since it is refused too. The name of a
 * speaker is none of these.
 */
export function portableNames(message: WireMessage, names: WireToolNames): WireMessage {
  const { role, name } = message;
  if (role === 'tool' && typeof name === 'string' && names.toWire(name) !== name) {
    return { ...message, name: names.toWire(name) };
  }
  const calls = callsOf(message);
  const renamed = calls.map((call) => renamedCall(call, names));
  return renamed.every((call, i) => call === calls[i]) ? message : { ...message, tool_calls: renamed };
}

function renamedCall(call: WireToolCall, names: WireToolNames): WireToolCall {
  const { function: called } = call;
  if (called === undefined) return call;
  const name = names.toWire(called.name ?? '');
  return name === called.name ? call : { ...call, function: { ...called, name } };
}
