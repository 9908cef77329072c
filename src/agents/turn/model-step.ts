import type { Completion } from '../../llm/outcome.js';
import { systemPromptOf } from '../definition.js';
import { type ChatModel, turnError } from './chat-model.js';
import type { TurnUsage } from './events.js';
import type { TokenExcess } from './fitter.js';
import type { Progress, TurnRun, TurnRunnerParts } from './run.js';
import { addUsage, NO_TURN_USAGE } from './usage.js';

/** A reply, and what it cost. */
export interface Answered {
  readonly completion: Completion;
  readonly usage: TurnUsage;
  readonly excess: TokenExcess | null;
}

/**
 * One step of a turn: the context as it is in the database now, made to fit, sent. A context that the endpoint
 * finds too long is compacted and sent once more.
 */
export async function askModel(
  parts: Pick<TurnRunnerParts, 'contexts' | 'fitter'>,
  model: ChatModel,
  run: TurnRun,
  progress: Progress,
  signal: AbortSignal,
): Promise<Answered> {
  const { contexts, fitter } = parts;
  const { turn, agent, tools, emit } = run;
  const read = async () => ({
    turn,
    agent,
    tools,
    emit,
    signal,
    context: await contexts.readForTurn(turn.sessionPk, systemPromptOf(agent)),
  });
  let call = await read();
  const fitted = await fitter.beforeCall(call);
  call = { ...call, context: fitted.context };
  progress.compaction = fitted.compaction ?? progress.compaction;
  let usage = NO_TURN_USAGE;
  for (let compacted = false; ; compacted = true) {
    signal.throwIfAborted();
    const onText = (text: string) => emit({ type: 'message-delta', data: { text } });
    const { messages } = call.context;
    const result = await model.complete({ agent, messages, tools, origin: run.origin, onText, signal });
    usage = addUsage(usage, result.usage);
    const { outcome } = result;
    if (outcome.kind === 'ok') {
      const promptTokens = result.requests === 1 ? result.usage.inputTokens : null;
      return { completion: outcome, usage, excess: await fitter.excessOf(call, promptTokens) };
    }
    signal.throwIfAborted();
    const freed = outcome.kind === 'overflow' && !compacted ? await fitter.afterOverflow(call) : null;
    if (freed === null) throw turnError(outcome, model.modelOf(agent));
    progress.compaction = freed;
    call = await read();
  }
}
