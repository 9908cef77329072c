import { isBlankPart } from './content.js';
import type { WireMessage } from './wire-message.js';

/** One empty text part makes some endpoints refuse the request, so such parts are left out. */
export function emptyParts(message: WireMessage): WireMessage {
  const { content } = message;
  if (typeof content === 'string' || !content?.some(isBlankPart)) return message;
  return { ...message, content: content.filter((part) => !isBlankPart(part)) };
}
