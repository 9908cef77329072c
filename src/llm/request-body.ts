import type { RequestForm } from './request-form.js';

export interface ChatMessage {
  readonly role: string;
  readonly content: string;
}

export interface ChatRequest {
  readonly model: string;
  readonly messages: readonly ChatMessage[];
  /** In tokens; null sends no cap at all. */
  readonly maxOutputTokens: number | null;
  /** Configured fields beside our own, of which they override none. */
  readonly extraBody: Readonly<Record<string, unknown>>;
}

/** The fields of a request as they are sent. */
export type RequestFields = Readonly<Record<string, unknown>>;

/** Fields that have a setting of their own, so that they cannot be extra fields. */
export const OWN_FIELDS: readonly string[] = [
  'model',
  'messages',
  'stream',
  'max_tokens',
  'max_completion_tokens',
];

/**
 * The fields of a request. They are as few as possible, because strict servers refuse what they do not know. A
 * stream is asked for wherever the endpoint has not refused it: a plain reply sends nothing before it is complete,
 * which cannot be told from a hang and is cut by proxies.
 */
export function requestFields(request: ChatRequest, form: RequestForm): RequestFields {
  const extra = Object.entries(request.extraBody).filter(
    ([name]) => !OWN_FIELDS.includes(name) && !form.dropped.includes(name),
  );
  const { maxOutputTokens } = request;
  const fields = {
    model: request.model,
    messages: request.messages.map(({ role, content }) => ({ role, content })),
    ...(form.stream ? { stream: true } : {}),
    ...(form.stream && form.streamOptions ? { stream_options: { include_usage: true } } : {}),
    ...(maxOutputTokens === null ? {} : { [form.capField]: capWithin(maxOutputTokens, form) }),
    ...Object.fromEntries(extra),
  };
  if (form.stream && form.streamOptions) return fields;
  // Also where it is configured: it was refused, and without a stream there is nothing to set options for.
  const { stream_options: _refused, ...rest } = fields;
  return rest;
}

/**
 * The request as JSON text. Every string is made well-formed: one lone surrogate (half an emoji) makes strict
 * parsers refuse the whole request, and then every later request with the same text in it.
 */
export function requestBody(fields: RequestFields): string {
  return JSON.stringify(fields, (_key, value: unknown) =>
    typeof value === 'string' ? value.toWellFormed() : value,
  );
}

function capWithin(cap: number, { largestCap }: RequestForm): number {
  return largestCap === null ? cap : Math.min(cap, largestCap);
}
