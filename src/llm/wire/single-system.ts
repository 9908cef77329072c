import { mergeMessages } from './merge-turns.js';
import { isSystem, type WireMessage } from './wire-message.js';

/**
 * Many templates take one system message, in front, and fail on any other. All of them are merged into the
 * first, in their order; one that came later is thereby said earlier, which its words survive.
 */
export function singleSystem(messages: readonly WireMessage[]): readonly WireMessage[] {
  const systems = messages.filter(isSystem);
  if (systems.length === 0 || (systems.length === 1 && systems[0] === messages[0])) return messages;
  return [...mergeMessages(systems), ...messages.filter((message) => !isSystem(message))];
}
