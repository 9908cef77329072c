import type { ChatTool } from '../../llm/request-tools.js';
import type { TurnContext } from '../../sessions/context-service.js';
import type { AgentDefinition } from '../definition.js';
import type { TurnCompaction, TurnSink } from './events.js';
import type { OpenTurn } from './open-turn.js';

/** A model call that is about to be made. */
export interface UpcomingCall {
  readonly turn: OpenTurn;
  readonly agent: AgentDefinition;
  readonly tools: readonly ChatTool[];
  readonly context: TurnContext;
  readonly emit: TurnSink;
  readonly signal: AbortSignal;
}

/** Prompt tokens beyond what was estimated, and the revision of the session at which that was seen. */
export interface TokenExcess {
  readonly tokens: number;
  readonly revision: number;
}

/** Keeps what is sent within the model's window, by compacting the session between model calls. */
export interface ContextFitter {
  /** Compacts where the context is over the agent's limit. A failure is told and otherwise ignored. */
  beforeCall(call: UpcomingCall): Promise<Fitted>;
  /** Compacts once because the endpoint found the context too long; null when that freed nothing. */
  afterOverflow(call: UpcomingCall): Promise<TurnCompaction | null>;
  /** What the endpoint's own count says about the estimate; null where it cannot be told. */
  excessOf(call: UpcomingCall, promptTokens: number | null): Promise<TokenExcess | null>;
}

export interface Fitted {
  /** The last compaction that moved the session; null without one. */
  readonly compaction: TurnCompaction | null;
  /** The context as it is now. */
  readonly context: TurnContext;
}

/** For services without automatic compaction. */
export const NO_FITTING: ContextFitter = {
  beforeCall: async ({ context }) => ({ compaction: null, context }),
  afterOverflow: async () => null,
  excessOf: async () => null,
};
