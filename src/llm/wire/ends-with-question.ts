import { openCalls } from './open-calls.js';
import { isSystem, type WireMessage } from './wire-message.js';

/**
 * Whether a cleaned list leaves something for the model to answer: a user message, or the results of all the
 * calls before them, comes last. Endpoints refuse a list that ends with the assistant, or continue its words
 * as if they were their own; the clean-up never makes up a user message to hide that, so callers ask here
 * before they send. System messages do not count: alone they are refused by some endpoints, and ask for nothing.
 */
export function endsWithQuestion(messages: readonly WireMessage[]): boolean {
  const turns = messages.filter((message) => !isSystem(message));
  const last = turns.at(-1);
  if (last?.role !== 'tool') return last?.role === 'user';
  const head = turns.findLastIndex(({ role }) => role !== 'tool');
  const caller = turns[head];
  return caller?.role === 'assistant' && openCalls(caller, turns.slice(head + 1)).length === 0;
}
