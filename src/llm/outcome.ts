/**
 * What one request to a model endpoint came to. The client never throws for anything an endpoint, a network
 * or a caller's cancel can do: everything is one of these, and retry and error mapping look at nothing else.
 */

/** Tokens as the endpoint counted them; null where it did not say (never 0, never NaN). */
export interface Usage {
  readonly inputTokens: number | null;
  readonly outputTokens: number | null;
}

export interface ToolCall {
  readonly id: string;
  readonly name: string;
  /** The arguments as the model wrote them, not parsed. */
  readonly arguments: string;
  /**
   * Further fields of the call, each an object, by name; absent where there are none. Gemini refuses a call that
   * comes back in the history without its `extra_content`.
   */
  readonly extra?: Readonly<Record<string, unknown>>;
}

/** A complete reply. What it is good for is the caller's decision: `text` may be blank. */
export interface Completion {
  readonly kind: 'ok';
  /** The reply's text, reasoning left out; '' when there is none. */
  readonly text: string;
  /**
   * As sent by the endpoint (`stop`, `length`, `content_filter`, ...); null when it sent none. It says nothing on
   * tool calls: many servers end those with `stop` too.
   */
  readonly finishReason: string | null;
  readonly refusal: string | null;
  readonly toolCalls: readonly ToolCall[];
  /**
   * What the model thought before these tool calls; absent without either. DeepSeek refuses such a message when it
   * comes back without its reasoning. Never part of the text.
   */
  readonly reasoning?: string;
  /** The model that answered, by its own word; null when it did not say. */
  readonly model: string | null;
}

interface Failed<Kind extends string> {
  readonly kind: Kind;
  /** One line for people: at most 300 characters, tags stripped, no key in it. */
  readonly message: string;
  /** HTTP status of the endpoint's answer; null when there was none. */
  readonly status: number | null;
}

/** The prompt does not fit the model's window; the sizes are tokens, where the endpoint names them. */
export interface Overflow extends Failed<'overflow'> {
  readonly windowTokens: number | null;
  readonly requestedTokens: number | null;
}

/** Try again later. `retryAfterMs` is the endpoint's own hint; null when it gave none. */
interface Delayed<Kind extends string> extends Failed<Kind> {
  readonly retryAfterMs: number | null;
}

export type Failure =
  | Overflow
  | Delayed<'rate_limited'>
  /** A 5xx, a network failure, or a 200 that holds an error. */
  | Delayed<'unavailable'>
  | Failed<'quota'>
  | Failed<'auth'>
  /** The provider's content policy blocked the request. */
  | Failed<'policy'>
  /** Any other refusal; `param` is the parameter it names, if it names one. */
  | (Failed<'bad_request'> & { readonly param: string | null })
  /** The stream ended before the reply did. */
  | Failed<'incomplete'>
  /** A well-formed answer without any choice. */
  | Failed<'empty'>
  /** Not a chat completion at all: HTML, broken JSON, broken frames. */
  | Failed<'protocol'>
  /** One of the four clocks ran out; `clock` says which. */
  | (Failed<'timeout'> & { readonly clock: 'connect' | 'first_byte' | 'silence' | 'total' })
  /** The caller's signal fired. */
  | Failed<'aborted'>;

export type Outcome = Completion | Failure;

/** The end of a call after its retries, with what all its requests used together. */
export interface CallResult {
  readonly outcome: Outcome;
  /** Requests sent; 0 only when the signal had fired before the first one. */
  readonly requests: number;
  /** Sum over the requests that reported usage, failed ones included; null where none did. */
  readonly usage: Usage;
  /** The model that was asked in the end, when a fallback took the place of the one that the call was for. */
  readonly answeredBy?: string;
  /**
   * That endpoint has failed and another one is asked from now on, with other limits: the outcome is a failure, and
   * the text is to be taken again by the limits as they are now.
   */
  readonly isHandedOver?: true;
}
