import type { WireMessage, WirePart } from './wire-message.js';

/**
 * Small servers take only a string as content, above all in system, tool and assistant messages; some models
 * copy the list form into their answers. Parts that are all text become their texts, one after another in
 * lines of their own. A list with anything else in it, such as an image, has no string form and stays.
 */
export function stringContent(message: WireMessage): WireMessage {
  const { content } = message;
  if (typeof content === 'string' || !content || content.length === 0 || !content.every(isText))
    return message;
  return { ...message, content: content.map(({ text }) => text).join('\n') };
}

function isText(part: WirePart): boolean {
  return part.type === 'text' && typeof part.text === 'string';
}
