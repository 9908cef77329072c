import { isRecord, parseJson } from '../narrow.js';
import { wellFormedEscapes } from './well-formed-escapes.js';
import type { StoredMessage, StoredToolCall, WireMessage, WireToolCall } from './wire-message.js';

/**
 * `arguments` must be JSON text of an object. A reply that was cut off leaves half of one in the history, and
 * strict servers then refuse every later request; such text becomes `{}`, because half an object cannot be
 * completed without guessing. An object in place of text, as old data has it, is written as text. Text that
 * was encoded twice, as some servers give it, is unwrapped: a model that saw `{}` in its history would believe
 * that it had called without arguments.
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
    ({ function: called }) => called === undefined || isRightText(called.arguments),
  );
}

function isRightText(value: unknown): boolean {
  return isObjectText(value) && wellFormedEscapes(value) === value;
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
  if (isRecord(value)) return JSON.stringify(value);
  const text = isObjectText(value) ? value : unwrapped(value);
  return text === null ? '{}' : wellFormedEscapes(text);
}

/**
 * The text of an object within a JSON string, one level deep; more is no form that a server gives. A surrogate
 * that stood in the outer text as an escape is there as itself in the inner one.
 */
function unwrapped(value: unknown): string | null {
  const inner = typeof value === 'string' ? parseJson(value) : null;
  return isObjectText(inner) ? inner.toWellFormed() : null;
}
