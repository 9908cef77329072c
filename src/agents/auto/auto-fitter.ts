import type { CompactionService } from '../../compaction/service.js';
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
    const { agent, signal } = call;
    const limit = await limitOf(agent, this.#parts.model, signal);
    let { context } = call;
    let compaction: TurnCompaction | null = null;
    if (limit === null) return { compaction, context };
    for (let round = 0; round < MAX_ROUNDS; round += 1) {
      if (context.session.auto_failures >= MAX_AUTO_FAILURES) break;
      const { tokens, charsPerToken } = await this.#count(call, context);
      if (tokens <= limit) break;
      const overChars = Math.ceil((tokens - limit) * charsPerToken);
      const done = await this.#round(call, { context, overChars, tokens });
      if (done === null) break;
      compaction = done.compaction ?? compaction;
      context = await this.#read(call);
      if (!done.gained) break;
    }
    return { compaction, context };
  }

  /** Only where automatic compaction is on: whoever switched it off wants the error. */
  async afterOverflow(call: UpcomingCall): Promise<TurnCompaction | null> {
    const { agent, context } = call;
    if (agent.defaultCompaction?.auto === undefined) return null;
    if (context.session.auto_failures >= MAX_AUTO_FAILURES) return null;
    const { tokens } = await this.#count(call, context);
    // The endpoint knows better than the estimate: the share of the session goes, whatever that says.
    const done = await this.#round(call, { context, overChars: 0, tokens });
    return done?.gained ? done.compaction : null;
  }

  async excessOf(call: UpcomingCall, promptTokens: number | null): Promise<TokenExcess | null> {
    if (promptTokens === null || call.agent.defaultCompaction?.auto === undefined) return null;
    const { estimated } = await this.#count(call, call.context);
    return { tokens: promptTokens - estimated, revision: call.context.session.revision };
  }

  async #count(call: UpcomingCall, context: TurnContext) {
    return countTokens(await this.#parts.estimator(), context, call.tools);
  }

  #round(call: UpcomingCall, round: AutoRound) {
    return runRound(this.#parts, call, round);
  }

  #read({ turn, agent }: UpcomingCall): Promise<TurnContext> {
    return this.#parts.contexts.readForTurn(turn.sessionPk, systemPromptOf(agent));
  }
}
