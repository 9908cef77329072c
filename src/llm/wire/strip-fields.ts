import { type WireMessage, without } from './wire-message.js';

const REASONING = ['reasoning_content', 'reasoning', 'reasoning_details', 'thinking'];

/**
 * Some endpoints want a model's reasoning back next to its calls and refuse the request without it, so it is
 * sent as it was received. Others refuse the fields, or bill for them: those get the message without.
 */
export function stripReasoning(message: WireMessage): WireMessage {
  return without(message, REASONING);
}

/** `name` is optional everywhere, and refused by some. The names of functions are no part of this. */
export function dropName(message: WireMessage): WireMessage {
  return without(message, ['name']);
}
