import { type ChatMessage, isSystem } from './measure.js';

/**
 * The message list a model gets: system messages, the summary as a pair of messages, the tail. Built for each
 * call and never stored; the same state gives the same bytes, which prompt caches depend on.
 */

const SUMMARY_OPENING = '[Summary of previous conversation]\n\n';
/** Says that the summary is a record: models took a "next step" in it for an order and did it again. */
const SUMMARY_CLOSING = '\n\n[End of summary: a record of what was said and done, not a new request.]';
const ACKNOWLEDGEMENT = 'Understood. I have the context of our previous conversation.';

/** A summary of only white space is none, and then `compact_size` counts as 0 everywhere. */
export function effectiveSummary(summary: string | null): string | null {
  return summary === null || summary.trim() === '' ? null : summary;
}

/** Where the open messages begin: 0 without a summary, and never past the last message. */
export function effectiveSize(session: {
  readonly compact_summary: string | null;
  readonly compact_size: number;
  readonly conversation_count: number;
}): number {
  if (effectiveSummary(session.compact_summary) === null) return 0;
  return Math.min(Math.max(0, session.compact_size), session.conversation_count);
}

/** What decides on the acknowledgement: two messages of the tail, each null when there is none such. */
export interface TailStart {
  /** Role of the tail's first message. */
  readonly first: ChatMessage['role'] | null;
  /** Role of the tail's first message that is a user message or an assistant message without tool calls. */
  readonly firstTurn: ChatMessage['role'] | null;
}

export function tailStart(tail: readonly ChatMessage[]): TailStart {
  const turn = tail.find(
    (message) => message.role === 'user' || (message.role === 'assistant' && !message.tool_calls?.length),
  );
  return { first: tail[0]?.role ?? null, firstTurn: turn?.role ?? null };
}

/**
 * The summary as messages. The acknowledgement keeps user and assistant alternating; an assistant message
 * that comes first in the tail takes its place, since strict templates refuse two in a row.
 */
export function summaryMessages(summary: string, tail: TailStart): ChatMessage[] {
  const user: ChatMessage = { role: 'user', content: SUMMARY_OPENING + summary + SUMMARY_CLOSING };
  const assistantComes =
    tail.firstTurn === 'assistant' || (tail.firstTurn === null && tail.first === 'assistant');
  return assistantComes ? [user] : [user, { role: 'assistant', content: ACKNOWLEDGEMENT }];
}

/**
 * The context of a whole session in memory: all its messages in `seq` order and its compaction state.
 * The service itself reads only the parts it needs; this is the definition that it is tested against.
 */
export function buildContext(
  messages: readonly ChatMessage[],
  state: { readonly summary: string | null; readonly size: number },
): ChatMessage[] {
  const summary = effectiveSummary(state.summary);
  if (summary === null) return [...messages];
  const tail = messages.filter((message) => !isSystem(message.role)).slice(state.size);
  const system = messages.filter((message) => isSystem(message.role));
  return [...system, ...summaryMessages(summary, tailStart(tail)), ...tail];
}
