/**
 * How much text a message holds. Chars are UTF-16 units (`string.length`): what JavaScript, and most clients,
 * mean by the length of a string. Images, audio and files count nothing, since no summary reads them.
 */

/** A message as given: any JSON object that passed validation. Fields beyond these are kept and not read. */
export interface ChatMessage {
  readonly role: 'system' | 'developer' | 'user' | 'assistant' | 'tool';
  readonly content?: string | readonly ContentPart[] | null;
  readonly refusal?: string | null;
  readonly tool_calls?: readonly ChatToolCall[] | null;
  readonly tool_call_id?: string | null;
  readonly name?: string | null;
  readonly [field: string]: unknown;
}

export interface ContentPart {
  readonly type: string;
  readonly text?: unknown;
  readonly [field: string]: unknown;
}

export interface ChatToolCall {
  readonly id?: string;
  readonly function?: { readonly name?: string; readonly arguments?: string };
  readonly [field: string]: unknown;
}

/** System messages are never folded: they are instructions, not conversation. */
export function isSystem(role: ChatMessage['role']): boolean {
  return role === 'system' || role === 'developer';
}

/** Every text of the message that counts, in reading order. */
export function measuredTexts(message: ChatMessage): string[] {
  const texts: string[] = [];
  const { content } = message;
  if (typeof content === 'string') texts.push(content);
  else if (Array.isArray(content)) {
    for (const part of content)
      if (part.type === 'text' && typeof part.text === 'string') texts.push(part.text);
  }
  for (const call of message.tool_calls ?? []) {
    texts.push(call.function?.name ?? '', call.function?.arguments ?? '');
  }
  if (typeof message.refusal === 'string') texts.push(message.refusal);
  return texts;
}

export interface Measure {
  /** UTF-16 units. */
  readonly chars: number;
  /** UTF-8 bytes of the same text. */
  readonly bytes: number;
}

export function measure(message: ChatMessage): Measure {
  let chars = 0;
  let bytes = 0;
  for (const text of measuredTexts(message)) {
    chars += text.length;
    bytes += Buffer.byteLength(text);
  }
  return { chars, bytes };
}

/**
 * Tokens in text of that many UTF-8 bytes: a third, which overestimates English a little and is about right
 * for Chinese, Japanese and Korean, where a quarter of the chars would be three times too low.
 */
export function estimateTokens(bytes: number): number {
  return Math.ceil(bytes / 3);
}
