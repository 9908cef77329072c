import { addressingOf } from './addressing.js';
import { type AttemptResult, attempt } from './attempt.js';
import { type ChatCall, TextOutlet } from './chat-call.js';
import { createConnections } from './connections.js';
import type { EndpointConfig } from './endpoint.js';
import type { ErrorFacts } from './error-facts.js';
import { KnownForms, Negotiation } from './negotiation.js';
import type { CallResult } from './outcome.js';
import { type ProxyEnvironment, proxiesFor } from './proxies.js';
import { createCleaner } from './redact.js';
import { requestBody, requestFields } from './request-body.js';
import { type RetryEvent, withRetries } from './retry.js';

export type { ChatCall } from './chat-call.js';

export interface ChatClient {
  /**
   * Sends a chat and waits for the whole reply; `onText` gets its text meanwhile. Never rejects: what went wrong is
   * in the outcome. Whether the model calls tools is told by `outcome.toolCalls`, not by the finish reason.
   */
  complete(call: ChatCall): Promise<CallResult>;
  /** Ends all connections; calls that are under way end as `aborted`. */
  close(): Promise<void>;
}

export interface ChatClientOptions {
  /** Told of each failed request, for the log. The message holds no key and no body. */
  readonly onFailure?: (event: RetryEvent) => void;
  /** Longest wait of one call for a server that loads its model, in ms; 2 minutes by default, 0 for none. */
  readonly loadingBudgetMs?: number;
  /** Where `HTTP_PROXY`, `HTTPS_PROXY` and `NO_PROXY` are looked for: `process.env` by default. */
  readonly environment?: ProxyEnvironment;
  /** For tests: the jitter of the backoff, from 0 up to, not including, 1. */
  readonly random?: () => number;
  /** For tests: the wait between two requests, in ms. Must reject when the signal fires. */
  readonly sleep?: (ms: number, signal: AbortSignal) => Promise<unknown>;
}

/** A client for one endpoint, with its own connections. Throws on a base URL, a header or a proxy that cannot be used. */
export function createChatClient(endpoint: EndpointConfig, options: ChatClientOptions = {}): ChatClient {
  const { url, headers, secrets } = addressingOf(endpoint);
  const proxies = proxiesFor(url, options.environment ?? process.env);
  const clean = createCleaner([...secrets, ...(proxies?.secrets ?? [])]);
  const connections = createConnections(endpoint.connectTimeoutMs, proxies);
  const openCalls = new Set<AbortController>();
  let closed = false;
  const forms = new KnownForms();

  return {
    async complete(call) {
      const model = call.model ?? endpoint.model;
      const negotiation = new Negotiation(forms, model);
      const request = {
        model,
        messages: call.messages,
        maxOutputTokens: call.maxOutputTokens === undefined ? endpoint.maxOutputTokens : call.maxOutputTokens,
        temperature: call.temperature,
        tools: call.tools,
        toolChoice: call.toolChoice,
        extraBody: endpoint.extraBody,
      };
      // Built once: a repeated request is the same, byte for byte, unless its form was refused.
      let fields = requestFields(request, negotiation.form);
      let body = requestBody(fields);
      const change = (refused: AttemptResult): string | null => {
        if (!isAboutTheRequest(refused)) return null;
        const made = negotiation.change(refused.refusal, fields);
        if (made === null) return null;
        fields = requestFields(request, negotiation.form);
        body = requestBody(fields);
        return made;
      };
      const abort = new AbortController();
      const { signal } = abort;
      const cancel = (): void => abort.abort();
      call.signal.addEventListener('abort', cancel, { once: true });
      if (call.signal.aborted || closed) cancel();
      const outlet = new TextOutlet(call.onText, cancel);
      const onText = outlet.handOut;
      openCalls.add(abort);
      try {
        const result = await withRetries(
          () => attempt({ url, headers, body, limits: endpoint, connections, clean, signal, onText }),
          {
            retries: endpoint.retries,
            loadingBudgetMs: options.loadingBudgetMs,
            signal,
            random: options.random,
            sleep: options.sleep,
            onFailure: options.onFailure,
            change,
            mayRepeat: () => !outlet.isUsed,
          },
        );
        negotiation.conclude(result.outcome);
        return result;
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

/** A 400 or 422, also one inside a 200: other refusals are not about how the request is written. */
function isAboutTheRequest(
  result: AttemptResult,
): result is AttemptResult & { readonly refusal: ErrorFacts } {
  const { outcome, refusal } = result;
  if (outcome.kind !== 'bad_request' || refusal === null) return false;
  const status = outcome.status !== null && outcome.status >= 400 ? outcome.status : refusal.status;
  return status === null || status === 400 || status === 422;
}
