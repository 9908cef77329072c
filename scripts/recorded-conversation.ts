import { readFile } from 'node:fs/promises';
import type { ChatMessage } from '../src/compaction/measure.js';

/** The bundled conversation of a cycling club with a ferry clerk, tool calls and results included. */
const FILE = new URL('../examples/ferry-booking.json', import.meta.url);

export interface RecordedConversation {
  readonly messages: readonly ChatMessage[];
  /** What the user said, in order. */
  readonly questions: readonly string[];
  /**
   * What the assistant said after `last`; null when that is not from this conversation, or its end. The beginning of
   * what the user said will do, so that it can be typed.
   */
  answerTo(last: ChatMessage): ChatMessage | null;
  /** What a tool gave for a call; null for a call that is not from this conversation. */
  resultOf(callId: string): string | null;
}

export async function readConversation(): Promise<RecordedConversation> {
  const { messages }: { messages: readonly ChatMessage[] } = JSON.parse(await readFile(FILE, 'utf8'));
  const results = messages.filter(({ role }) => role === 'tool');
  return {
    messages,
    questions: messages.filter(({ role }) => role === 'user').map(({ content }) => String(content)),
    answerTo(last) {
      const at =
        last.role === 'tool'
          ? messages.findIndex(({ tool_call_id: id }) => id !== undefined && id === last.tool_call_id)
          : messages.findIndex(({ role, content }) => role === 'user' && begins(content, last.content));
      const next = at < 0 ? undefined : messages.slice(at).find(({ role }) => role === 'assistant');
      return next ?? null;
    },
    resultOf(callId) {
      const result = results.find(({ tool_call_id: id }) => id === callId);
      return result === undefined ? null : String(result.content);
    },
  };
}

/** Shorter beginnings are by chance. */
const SHORTEST_BEGINNING = 8;

function begins(content: ChatMessage['content'], beginning: ChatMessage['content']): boolean {
  if (typeof content !== 'string' || typeof beginning !== 'string') return false;
  return beginning.length >= SHORTEST_BEGINNING && content.startsWith(beginning);
}
