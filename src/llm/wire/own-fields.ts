import { type WireMessage, without } from './wire-message.js';

const NULLABLE = ['tool_calls', 'tool_call_id', 'name', 'refusal'] as const;

/**
 * Fields that say nothing. Clients store the nulls that their library printed, `tool_calls: []` and empty
 * names; servers that check types refuse them. Calls on another role than assistant, and the id of a call on another role
 * than tool, mean nothing to any server and are refused by some.
 */
export function ownFields(message: WireMessage): WireMessage {
  const idle: string[] = NULLABLE.filter((field) => message[field] === null);
  if (message.name === '') idle.push('name');
  if (message.tool_calls?.length === 0 || message.role !== 'assistant') idle.push('tool_calls');
  if (message.role !== 'tool') idle.push('tool_call_id');
  return without(message, idle);
}
