import { callsOf, type WireMessage, type WireToolCall } from './wire-message.js';

/**
 * A call without `type` is refused where the field is required, and read as a function elsewhere. So one that
 * names a function says so. Calls of other kinds are left alone.
 */
export function callType(message: WireMessage): WireMessage {
  const calls = callsOf(message);
  return calls.some(lacksType) ? { ...message, tool_calls: calls.map(typed) } : message;
}

function lacksType(call: WireToolCall): boolean {
  return call.function !== undefined && typeof call['type'] !== 'string';
}

function typed(call: WireToolCall): WireToolCall {
  return lacksType(call) ? { ...call, type: 'function' } : call;
}
