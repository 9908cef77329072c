import { EMPTY, isBlank } from './content.js';
import { callsOf, type WireMessage } from './wire-message.js';

/**
 * Content must not be empty in most places. A user message and a tool result keep their place in the order of
 * turns and say that they are empty. Beside calls, null is what most servers take for no text: a missing
 * field breaks some, an empty list many. Those that drop or refuse null get `""` instead.
 */
export function fillEmpty(message: WireMessage, besideCalls: '' | null): WireMessage {
  if (!isBlank(message.content)) return message;
  if (message.role === 'user' || message.role === 'tool') return { ...message, content: EMPTY };
  if (callsOf(message).length === 0) return message;
  return message.content === besideCalls ? message : { ...message, content: besideCalls };
}
