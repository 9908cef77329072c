import { isSystem, type WireMessage } from './wire-message.js';

const OPENING: WireMessage = { role: 'user', content: '(The conversation begins here.)' };

/**
 * Some endpoints refuse a conversation that begins with the assistant, as one with a greeting does. A short
 * user line goes before it. Never after it: a list without a question stays without one.
 */
export function firstUser(messages: readonly WireMessage[]): readonly WireMessage[] {
  const first = messages.findIndex((message) => !isSystem(message));
  if (first < 0 || messages[first]?.role === 'user') return messages;
  return messages.toSpliced(first, 0, OPENING);
}
