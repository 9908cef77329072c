import type { ChatMessage } from '../../compaction/measure.js';
import { leaveTurn } from '../../db/repositories/turn-leases.js';
import { AppError } from '../../errors.js';
import { DEFAULT_MAX_STEPS } from '../definition.js';
import type { ChatModel } from './chat-model.js';
import { heldSession, writeStep } from './commit.js';
import type { TurnEnd, TurnUsage } from './events.js';
import type { TokenExcess } from './fitter.js';
import { keepTurn } from './keep-turn.js';
import { askModel } from './model-step.js';
import { type OutstandingCall, type OutstandingGroup, outstandingCalls } from './outstanding-calls.js';
import { replyMessage, withOwnIds } from './reply.js';
import type { Progress, TurnRun, TurnRunnerParts } from './run.js';
import { addUsage, NO_TURN_USAGE } from './usage.js';

/**
 * The loop of every turn: chat, task, subagent and tick. Its state is the session itself: it begins with what the
 * end of the session waits for, so that a turn that was cut off at any point goes on from its last stored message.
 */
export class TurnRunner {
  readonly #parts: TurnRunnerParts;

  constructor(parts: TurnRunnerParts) {
    this.#parts = parts;
  }

  /** Refuses what cannot run before anything is stored. MODEL_NOT_CONFIGURED. */
  requireModel(): ChatModel {
    const { model } = this.#parts;
    if (model !== null) return model;
    throw new AppError('MODEL_NOT_CONFIGURED', 'No endpoint is configured for agents: set MAIN_MODEL');
  }

  /**
   * Runs a turn that was begun to its end. After a failure its session stands at the last stored message, and the
   * turn stays open, so that the same request can go on with it.
   *
   * @param controller aborted by the caller's leaving, a shutdown, or the loss of the lease; its reason is thrown
   */
  async run(run: TurnRun, controller: AbortController): Promise<TurnEnd> {
    const { store, lease, running, logger } = this.#parts;
    const { turn } = run;
    const keeper = keepTurn(store, turn, lease, run.renew, (lost) => controller.abort(lost));
    const done = running.add(turn.sessionPk, controller);
    try {
      return await this.#loop(run, controller.signal);
    } catch (error) {
      const failure = asFailure(error, controller.signal);
      if (failure.code === 'INTERNAL_ERROR')
        logger.error({ err: failure, session: turn.sessionId }, 'a turn failed');
      else logger.warn({ code: failure.code, session: turn.sessionId }, 'a turn failed');
      await store
        .tx(async (db) => {
          // First, for it may end the turn for good; then this changes nothing.
          await run.fail(db, failure);
          await leaveTurn(db, turn.sessionPk, turn.owner, turn.position);
        })
        .catch((cause: unknown) =>
          logger.error({ err: cause }, 'the end of a failed turn could not be stored'),
        );
      throw failure;
    } finally {
      keeper.stop();
      done();
    }
  }

  async #loop(run: TurnRun, signal: AbortSignal): Promise<TurnEnd> {
    const progress: Progress = { usage: NO_TURN_USAGE, compaction: null, finishReason: null };
    const maxSteps = run.agent.maxSteps ?? DEFAULT_MAX_STEPS;
    for (let step = 0; ; step += 1) {
      signal.throwIfAborted();
      const group = await this.#waitedFor(run);
      // Calls that a run begins with were left by another one.
      if (step === 0 && group?.calls.some((call) => isSubagent(run, call))) await run.endLeftSubagents();
      const end = group === null ? null : await this.#settle(run, group, progress, signal);
      if (end !== null) return end;
      if (step === maxSteps) {
        throw new AppError('STEP_LIMIT_REACHED', `The turn made ${maxSteps} model calls without an answer`);
      }
      const answered = await this.#ask(run, progress, signal);
      if (answered !== null) return answered;
    }
  }

  /** Runs what the service runs of a group's calls; ends the turn when others are left for the caller. */
  async #settle(
    run: TurnRun,
    group: OutstandingGroup,
    progress: Progress,
    signal: AbortSignal,
  ): Promise<TurnEnd | null> {
    const left: OutstandingCall[] = [];
    for (const call of group.calls) {
      const result = run.subagent(call, signal) ?? (run.callerRunsTools ? null : cannotRun(call));
      if (result === null) left.push(call);
      else await this.#store(run, await result, null, null, null);
    }
    if (left.length === 0) return null;
    const end = endOf('requires_action', group.message, left, progress);
    await this.#store(run, null, null, null, end);
    return end;
  }

  /** One model call, and its reply stored; the end of the turn when there is nothing left to run here. */
  async #ask(run: TurnRun, progress: Progress, signal: AbortSignal): Promise<TurnEnd | null> {
    const { completion, usage, excess } = await askModel(
      this.#parts,
      this.requireModel(),
      run,
      progress,
      signal,
    );
    const calls = withOwnIds(completion.toolCalls);
    const message = replyMessage({ ...completion, toolCalls: calls });
    progress.usage = addUsage(progress.usage, usage);
    progress.finishReason = completion.finishReason;
    const end =
      calls.length === 0
        ? endOf('completed', message, [], progress)
        : run.callerRunsTools && calls.every((call) => !isSubagent(run, call))
          ? endOf('requires_action', message, calls, progress)
          : null;
    await this.#store(run, message, usage, excess, end);
    for (const call of calls) {
      const { id, name, arguments: args } = call;
      const by = isSubagent(run, call) ? 'subagent' : 'caller';
      run.emit({ type: 'tool-called', data: { id, name, arguments: args, by } });
    }
    return end;
  }

  /** Stores a step, and with the last one whatever ends with the turn. */
  async #store(
    run: TurnRun,
    message: ChatMessage | null,
    usage: TurnUsage | null,
    excess: TokenExcess | null,
    end: TurnEnd | null,
  ): Promise<void> {
    const { store, clock } = this.#parts;
    const messages = message === null ? [] : [message];
    await store.tx(async (db) => {
      await writeStep(db, run.turn, { messages, usage, excess }, clock());
      if (end !== null) await run.finish(db, end);
    });
    if (message !== null) run.emit({ type: 'message-completed', data: { message } });
  }

  #waitedFor({ turn }: TurnRun): Promise<OutstandingGroup | null> {
    return this.#parts.store.snapshot(async (db) => outstandingCalls(db, await heldSession(db, turn)));
  }
}

function isSubagent({ agent }: TurnRun, { name }: Pick<OutstandingCall, 'name'>): boolean {
  return agent.subagents?.includes(name) ?? false;
}

function endOf(
  status: TurnEnd['status'],
  message: ChatMessage,
  toolCalls: readonly OutstandingCall[],
  { usage, compaction, finishReason }: Progress,
): TurnEnd {
  return { status, message, toolCalls, finishReason, usage, compaction };
}

/** The result of a call that nobody is there to run. */
function cannotRun({ id, name }: OutstandingCall): Promise<ChatMessage> {
  const error = `There is nobody to run the tool ${name} here`;
  return Promise.resolve({ role: 'tool', tool_call_id: id, content: JSON.stringify({ error }) });
}

/** What ended the turn: the reason of the abort, where there was one, rather than what it led to. */
function asFailure(error: unknown, signal: AbortSignal): AppError {
  const reason: unknown = signal.aborted ? signal.reason : error;
  if (reason instanceof AppError) return reason;
  return new AppError('INTERNAL_ERROR', 'Unexpected failure', { cause: reason });
}
