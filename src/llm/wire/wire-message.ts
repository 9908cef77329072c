/**
 * Chat messages as an endpoint takes them, and the few questions that every repair asks about one. Messages
 * are never changed in place: a repair gives the same object when there is nothing to do, else a new one.
 */

export type WireRole = 'system' | 'developer' | 'user' | 'assistant' | 'tool';

export interface WirePart {
  readonly type: string;
  readonly text?: unknown;
  readonly [field: string]: unknown;
}

export type WireContent = string | readonly WirePart[] | null;

export interface WireToolCall {
  readonly id?: string;
  readonly function?: { readonly name?: string; readonly arguments?: string };
  readonly [field: string]: unknown;
}

/** Fields beyond these are sent as they are: some providers want their own ones back. */
interface MessageFields {
  readonly role: WireRole;
  readonly content?: WireContent;
  readonly refusal?: string | null;
  readonly tool_call_id?: string | null;
  readonly name?: string | null;
  readonly [field: string]: unknown;
}

/** A message as sent. */
export interface WireMessage extends MessageFields {
  readonly tool_calls?: readonly WireToolCall[] | null;
}

/** A message as stored. Old data holds `arguments` that are an object instead of JSON text. */
export interface StoredMessage extends MessageFields {
  readonly tool_calls?: readonly StoredToolCall[] | null;
}

export interface StoredToolCall {
  readonly id?: string;
  readonly function?: { readonly name?: string; readonly arguments?: unknown };
  readonly [field: string]: unknown;
}

export function isSystem({ role }: WireMessage): boolean {
  return role === 'system' || role === 'developer';
}

/** The calls that want an answer. Only an assistant has any: `ownFields` takes the field from other roles. */
export function callsOf({ tool_calls }: WireMessage): readonly WireToolCall[] {
  return tool_calls ?? [];
}

/** Whether the message is an assistant's own words, as opposed to a step of tool work. */
export function isAnswer(message: WireMessage): boolean {
  return message.role === 'assistant' && callsOf(message).length === 0;
}

/** The message without these fields; `role` is not one of them. */
export function without(message: WireMessage, fields: readonly string[]): WireMessage {
  if (!fields.some((field) => Object.hasOwn(message, field))) return message;
  const copy = { ...message };
  for (const field of fields) Reflect.deleteProperty(copy, field);
  return copy;
}
