import { joinContents } from './content.js';
import { isSystem, type WireMessage } from './wire-message.js';

/**
 * Some templates know no system role and fail on a message that has it. Its text goes in front of the first
 * user message; where the conversation does not begin with one, it becomes one, so that the instructions
 * still come before all they are about. Its other fields are no user's, and go.
 *
 * System messages alone stay as they are: as a user message they would be a question that nobody asked. There
 * is one system message at most by now, in front.
 */
export function foldSystem(messages: readonly WireMessage[]): readonly WireMessage[] {
  const [system, first, ...others] = messages;
  if (system === undefined || first === undefined || !isSystem(system)) return messages;
  if (first.role !== 'user') return [{ role: 'user', content: system.content ?? null }, first, ...others];
  return [{ ...first, content: joinContents([system.content, first.content]) }, ...others];
}
