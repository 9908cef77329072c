import type { LeaseTimes } from '../../compaction/lease-keeper.js';
import type { ChatMessage } from '../../compaction/measure.js';
import type { Db, Store } from '../../db/store.js';
import type { AppError } from '../../errors.js';
import type { CallOrigin } from '../../llm/circuit-breaker.js';
import type { ChatTool } from '../../llm/request-tools.js';
import type { Logger } from '../../logger.js';
import type { ContextService } from '../../sessions/context-service.js';
import type { AgentDefinition } from '../definition.js';
import type { ChatModel } from './chat-model.js';
import type { TurnCompaction, TurnEnd, TurnSink, TurnUsage } from './events.js';
import type { ContextFitter } from './fitter.js';
import type { OpenTurn } from './open-turn.js';
import type { OutstandingCall } from './outstanding-calls.js';
import type { RunningTurns } from './running-turns.js';

export interface TurnRunnerParts {
  readonly store: Store;
  /** Ms since the epoch. */
  readonly clock: () => number;
  readonly contexts: ContextService;
  /** Null when no endpoint is configured: turns are refused before they begin. */
  readonly model: ChatModel | null;
  readonly fitter: ContextFitter;
  readonly lease: LeaseTimes;
  readonly running: RunningTurns;
  readonly logger: Logger;
}

/** A turn to run, and what hangs on it for whoever began it. */
export interface TurnRun {
  readonly turn: OpenTurn;
  readonly agent: AgentDefinition;
  readonly tools: readonly ChatTool[];
  /** Runs a call of a subagent to its result; null for a call that is none. */
  readonly subagent: (call: OutstandingCall, signal: AbortSignal) => Promise<ChatMessage> | null;
  /** Ends what subagents of an earlier run of this turn have left behind, where a process died within one. */
  readonly endLeftSubagents: () => Promise<void>;
  /** Whether somebody waits who can run the other calls; if not, the model is told that they cannot be run. */
  readonly callerRunsTools: boolean;
  /** Whether somebody asked for it, or it runs by itself. */
  readonly origin: CallOrigin;
  readonly emit: TurnSink;
  /** In the transaction of the last write, after it. The turn's lease is still held. */
  readonly finish: (db: Db, end: TurnEnd) => Promise<void>;
  /** In the transaction that ends a failed turn, before its lease is given back: unless this does, it stays open. */
  readonly fail: (db: Db, failure: AppError) => Promise<void>;
  /** In the transaction that renews the turn's lease; an error ends the turn. */
  readonly renew: (db: Db) => Promise<AppError | null>;
}

/** What the steps so far came to. */
export interface Progress {
  usage: TurnUsage;
  compaction: TurnCompaction | null;
  finishReason: string | null;
}
