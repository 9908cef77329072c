import { attempt } from './attempt.js';
import { completionsUrl } from './completions-url.js';
import { createConnections } from './connections.js';
import type { EndpointConfig } from './endpoint.js';
import type { CallResult } from './outcome.js';
import { createCleaner } from './redact.js';
import { type ChatMessage, requestBody } from './request-body.js';
import { type RetryEvent, withRetries } from './retry.js';

export interface ChatCall {
  readonly messages: readonly ChatMessage[];
  /** Instead of the endpoint's configured model. */
  readonly model?: string;
  /** Instead of the endpoint's configured cap; null sends none. */
  readonly maxOutputTokens?: number | null;
  /** Ends the call within milliseconds, at any moment, with the outcome `aborted`. */
  readonly signal: AbortSignal;
}

export interface ChatClient {
  /** Sends a chat and waits for the whole reply. Never rejects: what went wrong is in the outcome. */
  complete(call: ChatCall): Promise<CallResult>;
  /** Ends all connections; calls that are under way end as `aborted`. */
  close(): Promise<void>;
}

export interface ChatClientOptions {
  /** Told of each failed request, for the log. The message holds no key and no body. */
  readonly onFailure?: (event: RetryEvent) => void;
  /** For tests: the jitter of the backoff, from 0 up to, not including, 1. */
  readonly random?: () => number;
  /** For tests: the wait between two requests, in ms. Must reject when the signal fires. */
  readonly sleep?: (ms: number, signal: AbortSignal) => Promise<unknown>;
}

/** A client for one endpoint, with its own connections. Throws if the base URL is not an http(s) URL. */
export function createChatClient(endpoint: EndpointConfig, options: ChatClientOptions = {}): ChatClient {
  const url = completionsUrl(endpoint.baseUrl);
  const clean = createCleaner([endpoint.apiKey]);
  const connections = createConnections(endpoint.connectTimeoutMs);
  const openCalls = new Set<AbortController>();
  let closed = false;
  const headers = {
    'content-type': 'application/json',
    accept: 'text/event-stream, application/json',
    'accept-encoding': 'identity',
    // Local servers that need no key refuse an empty one, so without a key there is no header.
    ...(endpoint.apiKey === null || endpoint.apiKey === ''
      ? {}
      : { authorization: `Bearer ${endpoint.apiKey}` }),
  };

  return {
    async complete(call) {
      const maxOutputTokens =
        call.maxOutputTokens === undefined ? endpoint.maxOutputTokens : call.maxOutputTokens;
      // Built once: a repeated request is the same, byte for byte.
      const body = requestBody({
        model: call.model ?? endpoint.model,
        messages: call.messages,
        maxOutputTokens,
      });
      const abort = new AbortController();
      const { signal } = abort;
      const cancel = (): void => abort.abort();
      call.signal.addEventListener('abort', cancel, { once: true });
      if (call.signal.aborted || closed) cancel();
      openCalls.add(abort);
      try {
        return await withRetries(
          () => attempt({ url, headers, body, limits: endpoint, connections, clean, signal }),
          {
            retries: endpoint.retries,
            signal,
            random: options.random,
            sleep: options.sleep,
            onFailure: options.onFailure,
          },
        );
      } finally {
        openCalls.delete(abort);
        call.signal.removeEventListener('abort', cancel);
      }
    },
    async close() {
      closed = true;
      for (const abort of openCalls) abort.abort();
      await connections.destroy();
    },
  };
}
