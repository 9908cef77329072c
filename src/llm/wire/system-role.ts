import type { WireMessage } from './wire-message.js';

/**
 * `developer` is OpenAI's newer name of `system`. Most other servers refuse a role that they do not know,
 * while OpenAI takes both names for the same thing.
 */
export function systemRole(message: WireMessage): WireMessage {
  return message.role === 'developer' ? { ...message, role: 'system' } : message;
}
