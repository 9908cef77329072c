import { modelError } from '../../compaction/model-error.js';
import type { AppError } from '../../errors.js';
import { AppError as CatalogueError } from '../../errors.js';
import type { ChatClient } from '../../llm/client.js';
import type { EndpointConfig } from '../../llm/endpoint.js';
import type { CallResult, Failure } from '../../llm/outcome.js';
import type { ChatTool } from '../../llm/request-tools.js';
import { cleanForWire } from '../../llm/wire/clean-for-wire.js';
import { endsWithQuestion } from '../../llm/wire/ends-with-question.js';
import type { WireMemory } from '../../llm/wire/wire-memory.js';
import type { StoredMessage } from '../../llm/wire/wire-message.js';
import type { AgentDefinition } from '../definition.js';

export interface ChatModelParts {
  readonly endpoint: EndpointConfig;
  readonly client: ChatClient;
  /** What the endpoint was found to want of messages, beyond what is configured. */
  readonly wire: WireMemory;
}

export interface ModelTurnCall {
  readonly agent: AgentDefinition;
  /** As stored; cleaned here. */
  readonly messages: readonly StoredMessage[];
  readonly tools: readonly ChatTool[];
  readonly onText: (text: string) => void;
  readonly signal: AbortSignal;
}

/** The endpoint that agents talk to: brings a context into the form it takes, and remembers that form. */
export class ChatModel {
  readonly #parts: ChatModelParts;

  constructor(parts: ChatModelParts) {
    this.#parts = parts;
  }

  modelOf(agent: AgentDefinition): string {
    return agent.model ?? this.#parts.endpoint.model;
  }

  /**
   * Sends the context once; once more when the endpoint complains about the form of the messages and another form
   * is known that it may take.
   *
   * @throws AppError NOTHING_TO_ANSWER when the context ends with nothing that wants an answer
   */
  async complete(call: ModelTurnCall): Promise<CallResult> {
    const { endpoint, client, wire } = this.#parts;
    const { agent, messages, tools, onText, signal } = call;
    const model = this.modelOf(agent);
    const key = `${endpoint.baseUrl} ${model}`;
    const send = (): Promise<CallResult> => {
      const cleaned = cleanForWire(messages, wire.optionsFor(key));
      if (!endsWithQuestion(cleaned)) {
        throw new CatalogueError(
          'NOTHING_TO_ANSWER',
          'The context ends with nothing to answer: send a message',
        );
      }
      return client.complete({
        model,
        messages: cleaned,
        temperature: agent.temperature,
        maxOutputTokens: agent.maxTokens,
        tools,
        onText,
        signal,
      });
    };
    const result = await send();
    const { outcome } = result;
    if (outcome.kind !== 'bad_request' || !wire.learn(key, outcome.message)) return result;
    const again = await send();
    return { ...again, requests: result.requests + again.requests };
  }
}

/** The error of a turn whose model call failed. */
export function turnError(failure: Failure, model: string): AppError {
  return failure.kind === 'policy'
    ? new CatalogueError('MODEL_REJECTED', `${model}: ${failure.message}`)
    : modelError(failure, model);
}
