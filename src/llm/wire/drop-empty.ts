import { EMPTY, isBlank } from './content.js';
import { isAnswer, isSystem, type WireMessage } from './wire-message.js';

/**
 * Leaves out system messages and assistant messages with nothing in them, which endpoints refuse. An empty
 * assistant message that alone keeps a user message apart from the user or tool message before it is filled
 * instead, because without it the roles would no longer alternate.
 */
export function dropEmpty(messages: readonly WireMessage[]): readonly WireMessage[] {
  const kept: WireMessage[] = [];
  let before: WireMessage['role'] | null = null;
  let gap: WireMessage | null = null;
  for (const message of messages) {
    const empty = isBlank(message.content);
    if (isSystem(message)) {
      if (!empty) kept.push(message);
    } else if (empty && isAnswer(message)) {
      gap ??= message;
    } else {
      const apart = message.role === 'user' && (before === 'user' || before === 'tool');
      if (gap !== null && apart) kept.push({ ...gap, content: EMPTY });
      kept.push(message);
      before = message.role;
      gap = null;
    }
  }
  return kept;
}
