import { isRecord, parseJson } from '../narrow.js';
import type { StoredMessage, StoredToolCall, WireMessage, WireToolCall } from './wire-message.js';

/**
 * `arguments` must be JSON text of an object. A reply that was cut off leaves half of one in the history, and
 * strict servers then refuse every later request; such text becomes `{}`, because half an object cannot be
 * completed without guessing. An object in place of text, as old data has it, is written as text.
 *
 * Text that is right is passed on as it is, byte for byte: reading and writing it again would round integers
 * beyond 2^53.
 */
export function callArguments(message: StoredMessage): WireMessage {
  if (isRight(message)) return message;
  return { ...message, tool_calls: message.tool_calls?.map(repaired) ?? null };
}

function isRight(message: StoredMessage): message is WireMessage {
  return (message.tool_calls ?? []).every(
    ({ function: called }) => called === undefined || isObjectText(called.arguments),
  );
}

function isObjectText(value: unknown): value is string {
  return typeof value === 'string' && isRecord(parseJson(value));
}

function repaired(call: StoredToolCall): WireToolCall {
  const { function: called, ...others } = call;
  if (called === undefined) return others;
  return { ...call, function: { ...called, arguments: argumentsText(called.arguments) } };
}

function argumentsText(value: unknown): string {
  if (isObjectText(value)) return value;
  return isRecord(value) ? JSON.stringify(value) : '{}';
}
