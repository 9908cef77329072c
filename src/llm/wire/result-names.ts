import { callsOf, type WireMessage } from './wire-message.js';

/**
 * Some endpoints match a result to its call by the function's name, and refuse a result without one. It is
 * taken from the call, which every result stands behind by now; a name that differs is no match either.
 */
export function resultNames(messages: readonly WireMessage[]): readonly WireMessage[] {
  let called = new Map<string, string | undefined>();
  return messages.map((message) => {
    const calls = callsOf(message);
    if (calls.length > 0) called = new Map(calls.map((call) => [call.id ?? '', call.function?.name]));
    if (message.role !== 'tool') return message;
    const name = called.get(message.tool_call_id ?? '');
    return name === undefined || name === '' || name === message.name ? message : { ...message, name };
  });
}
