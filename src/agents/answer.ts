import type { ChatMessage } from '../compaction/measure.js';
import type { StoredAnswer } from '../idempotency/claims.js';
import type { TurnCompaction, TurnEnd, TurnUsage } from './turn/events.js';
import type { OutstandingCall } from './turn/outstanding-calls.js';

/** What a chat turn answers. */
export interface ChatAnswer {
  readonly sessionId: string;
  readonly status: TurnEnd['status'];
  readonly message: ChatMessage;
  /** In OpenAI form: the calls whose results the caller must send. */
  readonly toolCalls?: readonly object[];
  readonly finishReason: string | null;
  readonly usage: TurnUsage;
  readonly compaction?: TurnCompaction;
}

export function chatAnswer(sessionId: string, end: TurnEnd): ChatAnswer {
  const { status, message, toolCalls, finishReason, usage, compaction } = end;
  return {
    sessionId,
    status,
    message,
    ...(status === 'requires_action' ? { toolCalls: toolCalls.map(inOpenAiForm) } : {}),
    finishReason,
    usage,
    ...(compaction === null ? {} : { compaction }),
  };
}

/** As it is kept for an Idempotency-Key: the first answer and every later one are the same text. */
export function storedAnswer(answer: ChatAnswer): StoredAnswer {
  return { status: 200, location: null, body: JSON.stringify(answer) };
}

export function inOpenAiForm({ id, name, arguments: args }: OutstandingCall): object {
  return { id, type: 'function', function: { name, arguments: args } };
}
