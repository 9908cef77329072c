export interface ChatMessage {
  readonly role: string;
  readonly content: string;
}

export interface ChatRequest {
  readonly model: string;
  readonly messages: readonly ChatMessage[];
  /** Sent as `max_tokens`; null sends no cap at all. */
  readonly maxOutputTokens: number | null;
}

/**
 * The request as JSON text. It holds as little as possible, because strict servers refuse what they do not
 * know. It always asks for a stream: a plain reply sends nothing before it is complete, which cannot be told
 * from a hang and is cut by proxies.
 *
 * Every string is made well-formed: one lone surrogate (half an emoji) makes strict parsers refuse the whole
 * request, and then every later request with the same text in it.
 */
export function requestBody(request: ChatRequest): string {
  const body = {
    model: request.model,
    messages: request.messages.map(({ role, content }) => ({ role, content })),
    stream: true,
    stream_options: { include_usage: true },
    ...(request.maxOutputTokens === null ? {} : { max_tokens: request.maxOutputTokens }),
  };
  return JSON.stringify(body, (_key, value: unknown) =>
    typeof value === 'string' ? value.toWellFormed() : value,
  );
}
