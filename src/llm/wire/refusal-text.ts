import { joinContents } from './content.js';
import { type WireMessage, without } from './wire-message.js';

/**
 * A model that refused said so in `refusal` and left `content` null. Only OpenAI reads that field again; on
 * other servers the turn would be empty, or refused for the field. So what was said becomes content.
 */
export function refusalText(message: WireMessage): WireMessage {
  const { content, refusal } = message;
  if (typeof refusal !== 'string') return message;
  return { ...without(message, ['refusal']), content: joinContents([content, refusal]) };
}
