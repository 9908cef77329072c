import type { ChatMessage } from '../../compaction/measure.js';
import { modelError } from '../../compaction/model-error.js';
import { AppError } from '../../errors.js';
import type { CallOrigin, CircuitBreaker } from '../../llm/circuit-breaker.js';
import type { ChatClient } from '../../llm/client.js';
import type { EndpointConfig } from '../../llm/endpoint.js';
import type { CallResult, Failure, Outcome } from '../../llm/outcome.js';
import { createStreamRedactor, type ReplyRedactor } from '../../llm/reply-secrets.js';
import type { ChatTool } from '../../llm/request-tools.js';
import type { WindowFinder } from '../../llm/windows/window-finder.js';
import { cleanForWire } from '../../llm/wire/clean-for-wire.js';
import { endsWithQuestion } from '../../llm/wire/ends-with-question.js';
import { type WireToolNames, wireToolNames } from '../../llm/wire/tool-names.js';
import type { WireMemory } from '../../llm/wire/wire-memory.js';
import type { AgentDefinition } from '../definition.js';
import { addUsage } from './usage.js';

export interface ChatModelParts {
  readonly endpoint: EndpointConfig;
  readonly client: ChatClient;
  /** Null leaves windows to the configuration. */
  readonly windows: WindowFinder | null;
  /** What the endpoint was found to want of messages, beyond what is configured. */
  readonly wire: WireMemory;
  readonly breaker: CircuitBreaker;
}

export interface ModelTurnCall {
  readonly agent: AgentDefinition;
  /** As stored; cleaned here. */
  readonly messages: readonly ChatMessage[];
  readonly tools: readonly ChatTool[];
  /** Work that nobody waits for stays away from an endpoint that is down. */
  readonly origin: CallOrigin;
  readonly onText: (text: string) => void;
  readonly signal: AbortSignal;
}

/** The endpoint that agents talk to: brings a context into the form it takes, and remembers that form. */
export class ChatModel {
  readonly #parts: ChatModelParts;
  readonly #secrets: ReplyRedactor;

  constructor(parts: ChatModelParts) {
    this.#parts = parts;
    this.#secrets = createStreamRedactor(parts.endpoint);
  }

  modelOf(agent: AgentDefinition): string {
    return agent.model ?? this.#parts.endpoint.model;
  }

  /** The window of the agent's model in tokens, as configured or as the endpoint says; null when neither is known. */
  async windowOf(agent: AgentDefinition, signal: AbortSignal): Promise<number | null> {
    const { endpoint, windows } = this.#parts;
    const model = this.modelOf(agent);
    if (endpoint.windowTokens !== null && model === endpoint.model) return endpoint.windowTokens;
    const found = (await windows?.windowOf(model, signal)) ?? null;
    // A learned one is counted by another estimate, and only says where to begin.
    return found === null || found.source === 'learned' ? null : found.tokens;
  }

  /**
   * Sends the context once; once more when the endpoint complains about the form of the messages and another form
   * is known that it may take.
   *
   * @throws AppError NOTHING_TO_ANSWER when the context ends with nothing that wants an answer
   */
  async complete(call: ModelTurnCall): Promise<CallResult> {
    const { endpoint, wire, breaker } = this.#parts;
    const model = this.modelOf(call.agent);
    const key = `${endpoint.baseUrl} ${model}`;
    const report = breaker.enter(call.origin);
    if (report === null) {
      const detail = `${model}: the endpoint failed several times in a row and is left alone for a while`;
      throw new AppError('MODEL_UNAVAILABLE', detail);
    }
    const names = wireToolNames(call.tools.map((tool) => tool.function.name));
    let told = false;
    const onText = (text: string): void => {
      told = true;
      call.onText(text);
    };
    const first = await this.#send({ ...call, onText }, names, key);
    report(first.outcome);
    // Once text was handed out, a second request would hand it out again.
    if (told || !isAboutForm(first.outcome) || !wire.learn(key, first.outcome.message)) return first;
    const second = await this.#send(call, names, key);
    return {
      ...second,
      requests: first.requests + second.requests,
      usage: addUsage(first.usage, second.usage),
    };
  }

  async #send(call: ModelTurnCall, names: WireToolNames, key: string): Promise<CallResult> {
    const { client, wire } = this.#parts;
    const { agent, onText, signal } = call;
    const options = { ...wire.optionsFor(key), toolNames: names };
    const messages = cleanForWire(call.messages, options);
    if (!endsWithQuestion(messages)) {
      throw new AppError('NOTHING_TO_ANSWER', 'The context ends with nothing to answer: send a message');
    }
    const rename = options.portableNames === true;
    const text = this.#secrets.stream();
    const tell = (shown: string) => {
      if (shown !== '') onText(shown);
    };
    const result = await client.complete({
      model: this.modelOf(agent),
      messages,
      temperature: agent.temperature,
      maxOutputTokens: agent.maxTokens,
      tools: rename ? call.tools.map((tool) => renamed(tool, names)) : call.tools,
      onText: (piece) => tell(text.take(piece)),
      signal,
    });
    const outcome = this.#secrets.outcome(result.outcome);
    if (outcome.kind === 'ok') tell(text.end());
    if (outcome.kind !== 'ok' || !rename) return { ...result, outcome };
    const toolCalls = outcome.toolCalls.map((each) => ({ ...each, name: names.fromWire(each.name) }));
    return { ...result, outcome: { ...outcome, toolCalls } };
  }
}

function renamed(tool: ChatTool, { toWire }: WireToolNames): ChatTool {
  return { ...tool, function: { ...tool.function, name: toWire(tool.function.name) } };
}

/** Templates of local servers fail with a 500 where others answer 400. */
function isAboutForm(outcome: Outcome): outcome is Extract<Failure, { kind: 'bad_request' | 'unavailable' }> {
  return outcome.kind === 'bad_request' || (outcome.kind === 'unavailable' && outcome.status === 500);
}

/** The error of a turn whose model call failed. */
export function turnError(failure: Failure, model: string): AppError {
  return failure.kind === 'policy'
    ? new AppError('MODEL_REJECTED', `${model}: ${failure.message}`)
    : modelError(failure, model);
}
