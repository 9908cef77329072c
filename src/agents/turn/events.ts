import type { ChatMessage } from '../../compaction/measure.js';
import type { ErrorCode } from '../../errors.js';
import type { OutstandingCall } from './outstanding-calls.js';

/** What a compaction within a turn came to. Sizes are counts of messages and chars of the open context. */
export interface TurnCompaction {
  readonly id: string;
  readonly fromSize: number;
  readonly toSize: number;
  readonly charsBefore: number;
  readonly charsAfter: number;
}

/** Tokens as the endpoint counted them, summed over the model calls of the turn; null where it did not say. */
export interface TurnUsage {
  readonly inputTokens: number | null;
  readonly outputTokens: number | null;
}

/** What a turn tells while it runs. Nothing here is stored as a message unless it says so. */
export type TurnEvent =
  | { readonly type: 'session-opened'; readonly data: { readonly sessionId: string } }
  /** A piece of the reply's text, before the reply is stored. */
  | { readonly type: 'message-delta'; readonly data: { readonly text: string } }
  | { readonly type: 'tool-called'; readonly data: ToolCalled }
  | { readonly type: 'compaction-started'; readonly data: { readonly estimatedTokens: number } }
  | { readonly type: 'compaction-finished'; readonly data: TurnCompaction }
  | {
      readonly type: 'compaction-failed';
      readonly data: { readonly code: ErrorCode; readonly detail: string };
    }
  /** An assistant message, or the result of a subagent, as it was stored. */
  | { readonly type: 'message-completed'; readonly data: { readonly message: ChatMessage } };

export interface ToolCalled extends OutstandingCall {
  /** Who runs it: whoever asked for the turn, or the service, as a subagent. */
  readonly by: 'caller' | 'subagent';
}

export type TurnSink = (event: TurnEvent) => void;

/** What a turn came to, when it ended well. */
export interface TurnEnd {
  readonly status: 'completed' | 'requires_action';
  /** The last assistant message, as stored. */
  readonly message: ChatMessage;
  /** The calls whose results the caller must send. */
  readonly toolCalls: readonly OutstandingCall[];
  readonly finishReason: string | null;
  readonly usage: TurnUsage;
  /** The last compaction of the turn; null without one. */
  readonly compaction: TurnCompaction | null;
}
