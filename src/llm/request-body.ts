import type { RequestForm } from './request-form.js';
import { sentTools, type ToolFields } from './request-tools.js';

/** A message as it is sent, field by field: `content`, `tool_calls`, `tool_call_id` and what a provider wants back. */
export interface ChatMessage {
  readonly role: string;
  readonly [field: string]: unknown;
}

export interface ChatRequest extends ToolFields {
  readonly model: string;
  readonly messages: readonly ChatMessage[];
  /** In tokens; null sends no cap at all. */
  readonly maxOutputTokens: number | null;
  /** Instead of a configured one. */
  readonly temperature?: number | undefined;
  /** Configured fields beside our own, of which they override none. */
  readonly extraBody: Readonly<Record<string, unknown>>;
}

/** The fields of a request as they are sent. */
export type RequestFields = Readonly<Record<string, unknown>>;

/** Fields that the client sets itself, so that they cannot be extra fields. */
export const OWN_FIELDS: readonly string[] = [
  'model',
  'messages',
  'stream',
  'max_tokens',
  'max_completion_tokens',
  'tools',
];

/**
 * The fields of a request. They are as few as possible, because strict servers refuse what they do not know. A
 * stream is asked for wherever the endpoint has not refused it: a plain reply sends nothing before it is complete,
 * which cannot be told from a hang and is cut by proxies.
 */
export function requestFields(request: ChatRequest, form: RequestForm): RequestFields {
  const { maxOutputTokens: cap, temperature, extraBody } = request;
  const { capField } = form;
  const options = Object.entries({ ...extraBody, ...(temperature === undefined ? {} : { temperature }) });
  const fields = {
    model: request.model,
    messages: request.messages,
    ...(form.stream ? { stream: true } : {}),
    ...(form.stream && form.streamOptions ? { stream_options: { include_usage: true } } : {}),
    ...(cap === null || capField === null ? {} : { [capField]: capWithin(cap, form) }),
    ...Object.fromEntries(options.filter(([name]) => !OWN_FIELDS.includes(name))),
  };
  const refused = [...form.dropped, ...(form.stream && form.streamOptions ? [] : ['stream_options'])];
  return Object.fromEntries(
    // Last of all, for what is refused is left out also where it is configured.
    Object.entries(sentTools(fields, request)).filter(([name]) => !refused.includes(name)),
  );
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
