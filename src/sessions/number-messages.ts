import { type ChatMessage, isSystem, measure } from '../compaction/measure.js';

/** Where a session's numbering stands: what the next message continues from. */
export interface Numbering {
  /** All messages so far: the next `seq`. */
  readonly messageCount: number;
  /** Conversation messages so far: the next `position`. */
  readonly conversationCount: number;
  /** Chars of the conversation messages so far. */
  readonly totalChars: number;
  /** Start of the tool group that a tool message coming next would belong to; null when it would be an orphan. */
  readonly openGroupStart: number | null;
}

/** What is derived from a message and its place. System messages have no place in the conversation. */
export interface NumberedMessage {
  readonly seq: number;
  readonly position: number | null;
  readonly group_start: number | null;
  readonly running_total: number | null;
  readonly role: ChatMessage['role'];
  readonly tool_call_count: number;
  readonly chars: number;
  readonly text_bytes: number;
}

/** Numbers messages that are appended in this order; pure, so that order never depends on clocks. */
export function numberMessages(
  messages: readonly ChatMessage[],
  from: Numbering,
): { readonly numbered: NumberedMessage[]; readonly next: Numbering } {
  let { messageCount, conversationCount, totalChars, openGroupStart } = from;
  const numbered: NumberedMessage[] = [];
  for (const message of messages) {
    const { chars, bytes } = measure(message);
    const common = {
      seq: messageCount,
      role: message.role,
      tool_call_count: message.role === 'assistant' ? (message.tool_calls?.length ?? 0) : 0,
      chars,
      text_bytes: bytes,
    };
    messageCount += 1;
    if (isSystem(message.role)) {
      numbered.push({ ...common, position: null, group_start: null, running_total: null });
      continue;
    }
    const position = conversationCount;
    conversationCount += 1;
    totalChars += chars;
    // Every tool message of an unbroken run belongs to the group that the run follows, whatever its id.
    if (message.role !== 'tool') openGroupStart = common.tool_call_count > 0 ? position : null;
    const groupStart = openGroupStart ?? position;
    numbered.push({ ...common, position, group_start: groupStart, running_total: totalChars });
  }
  return { numbered, next: { messageCount, conversationCount, totalChars, openGroupStart } };
}
