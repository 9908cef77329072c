import type { WireMessage } from './wire-message.js';

const BRIDGE: WireMessage = { role: 'assistant', content: 'Understood.' };

/**
 * Some templates refuse a user message directly after a tool result: they expect the assistant's word on it
 * first. It is missing when the user interrupted the work, so a short one is put in.
 */
export function bridgeToolToUser(messages: readonly WireMessage[]): readonly WireMessage[] {
  return messages.flatMap((message, index) =>
    message.role === 'user' && messages[index - 1]?.role === 'tool' ? [BRIDGE, message] : [message],
  );
}
