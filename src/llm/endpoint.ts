import { completionsUrl } from './completions-url.js';

/** One configured model endpoint: where it is, how to talk to it, how long to wait. All durations in ms. */
export interface EndpointConfig {
  /** As configured; `addressingOf` derives the final address. */
  readonly baseUrl: string;
  readonly apiKey: string | null;
  /** How the key is sent: as a bearer token, in Azure's `api-key` header, or not at all. */
  readonly authHeader: AuthHeader;
  /** Sent with every request, for gateways. Their values are as secret as the key. */
  readonly extraHeaders: Readonly<Record<string, string>>;
  /** Fields added to every request; they override none of the client's own. */
  readonly extraBody: Readonly<Record<string, unknown>>;
  /** Azure's `api-version` in the query. */
  readonly apiVersion: string | null;
  readonly model: string;
  /** The model's context window in tokens, when configured. */
  readonly windowTokens: number | null;
  /** Sent as the output cap when configured; never derived from anything else (most vendors refuse a cap above the model limit). */
  readonly maxOutputTokens: number | null;
  readonly connectTimeoutMs: number;
  /** From the sent request to the first part of the reply; headers, comments and blank lines do not count as one. */
  readonly firstByteTimeoutMs: number;
  /** Longest time between two parts of the reply; comments and blank lines do not count as life. */
  readonly silenceTimeoutMs: number;
  readonly totalTimeoutMs: number;
  /** Further requests after the first one; 2 means at most 3 requests. */
  readonly retries: number;
}

export type AuthHeader = 'bearer' | 'api-key' | 'none';

/** Whether two roles ask the same model at the same address, so that one cannot stand in for the other. */
export function isSameModel(a: EndpointConfig, b: EndpointConfig): boolean {
  return completionsUrl(a.baseUrl).href === completionsUrl(b.baseUrl).href && a.model === b.model;
}
