import type { CompactionService } from '../../compaction/service.js';
import { noteAutoOutcome } from '../../db/repositories/turn-counts.js';
import type { Store } from '../../db/store.js';
import type { Logger } from '../../logger.js';
import type { ContextService, TurnContext } from '../../sessions/context-service.js';
import type { TokenEstimator } from '../../tokens/estimate.js';
import { systemPromptOf } from '../definition.js';
import type { ChatModel } from '../turn/chat-model.js';
import type { TurnCompaction } from '../turn/events.js';
import type { ContextFitter, Fitted, TokenExcess, UpcomingCall } from '../turn/fitter.js';
import { type AutoRound, runRound } from './auto-round.js';
import { limitOf } from './limit.js';
import { MAX_AUTO_FAILURES } from './max-failures.js';
import { countTokens } from './token-count.js';

export interface AutoParts {
  readonly store: Store;
  readonly compaction: CompactionService;
  readonly contexts: ContextService;
  readonly model: ChatModel;
  /** Loaded when the first agent with automatic compaction runs. */
  readonly estimator: () => Promise<TokenEstimator>;
  readonly logger: Logger;
}

/** Compactions before one model call: each must gain, and what they cannot reach does not shrink by trying. */
const MAX_ROUNDS = 3;
/** A compaction that leaves the context over its limit must at least have freed this share of it. */
const LEAST_GAIN = 0.05;

const GAINLESS = 'The context is still over its limit, and not even a twentieth shorter than before';

/**
 * Automatic compaction: before a model call whose context is over the agent's limit, the session is compacted like
 * by hand. It never fails a turn: what goes wrong is told and counted, and the call is made with what there is.
 */
export class AutoFitter implements ContextFitter {
  readonly #parts: AutoParts;

  constructor(parts: AutoParts) {
    this.#parts = parts;
  }

  async beforeCall(call: UpcomingCall): Promise<Fitted> {
    const limit = await limitOf(call.agent, this.#parts.model, call.signal);
    let { context } = call;
    let compaction: TurnCompaction | null = null;
    for (let round = 0; limit !== null && round < MAX_ROUNDS; round += 1) {
      const count = await this.#count(call, context);
      if (count.tokens <= limit || isStopped(context)) break;
      const overChars = Math.ceil((count.tokens - limit) * count.charsPerToken);
      const step = await this.#compact(call, { ...count, context, overChars }, limit);
      if (step === null) break;
      compaction = step.compaction ?? compaction;
      context = step.context;
      if (!step.gained) break;
    }
    return { compaction, context };
  }

  /** Only where automatic compaction is on: whoever switched it off wants the error. */
  async afterOverflow(call: UpcomingCall): Promise<TurnCompaction | null> {
    const { agent, context } = call;
    if (agent.defaultCompaction?.auto === undefined || isStopped(context)) return null;
    const count = await this.#count(call, context);
    // The endpoint knows better than the estimate: the share of the session goes, whatever that says.
    const step = await this.#compact(call, { ...count, context, overChars: 0 }, 0);
    return step?.gained ? step.compaction : null;
  }

  async excessOf(call: UpcomingCall, promptTokens: number | null): Promise<TokenExcess | null> {
    if (promptTokens === null || call.agent.defaultCompaction?.auto === undefined) return null;
    const { estimated } = await this.#count(call, call.context);
    return { tokens: promptTokens - estimated, revision: call.context.session.revision };
  }

  async #count(call: UpcomingCall, context: TurnContext) {
    return countTokens(await this.#parts.estimator(), context, call.tools);
  }

  /** One round, and whether it was worth it; null when there was nothing to fold. What was not is counted. */
  async #compact(call: UpcomingCall, round: AutoRound, limit: number): Promise<Step | null> {
    const { store, contexts } = this.#parts;
    const { turn, agent } = call;
    const end = await runRound(this.#parts, call, round);
    if (end.kind === 'nothing') return null;
    const context = await contexts.readForTurn(turn.sessionPk, systemPromptOf(agent));
    const { estimated } = await this.#count(call, context);
    // The endpoint's figure is of the text before: as a factor it still tells what was gained, by one measure.
    const tokens = (estimated * round.tokens) / Math.max(1, round.estimated);
    const failed = end.kind === 'failed';
    const gained = !failed && (tokens <= limit || tokens <= round.tokens * (1 - LEAST_GAIN));
    if (!failed || end.counts) {
      const error = failed ? end.error : gained ? null : GAINLESS;
      await store.tx((db) => noteAutoOutcome(db, turn.sessionPk, error));
    }
    return { compaction: failed ? null : end.compaction, context, gained };
  }
}

interface Step {
  /** Null when it failed. */
  readonly compaction: TurnCompaction | null;
  /** As it is now: a failed compaction may have committed a part. */
  readonly context: TurnContext;
  readonly gained: boolean;
}

function isStopped({ session }: TurnContext): boolean {
  return session.auto_failures >= MAX_AUTO_FAILURES;
}
