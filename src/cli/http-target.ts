import { Agent, request } from 'undici';
import { parseAnswer, ServiceGone, type ServiceTarget } from './service-target.js';

export interface HttpOptions {
  /** Longest wait for an answer to begin, in ms; 0 waits for as long as it takes. */
  readonly timeoutMs: number;
  /** Ends requests at work. */
  readonly signal?: AbortSignal;
}

/** A service that runs somewhere else. `url` is its root, with the path of a proxy if there is one. */
export function httpTarget(url: URL, { timeoutMs, signal }: HttpOptions): ServiceTarget {
  const agent = new Agent({ headersTimeout: timeoutMs, bodyTimeout: timeoutMs });
  const root = url.href.replace(/\/+$/, '');
  return {
    async send(method, path, json) {
      try {
        const response = await request(root + path, {
          method,
          dispatcher: agent,
          ...(signal === undefined ? {} : { signal }),
          ...(json === undefined ? {} : { body: json, headers: { 'content-type': 'application/json' } }),
        });
        return parseAnswer(response.statusCode, await response.body.text());
      } catch (error) {
        signal?.throwIfAborted();
        throw new ServiceGone(`no answer from ${url.origin}: ${reasonOf(error)}`, { cause: error });
      }
    },
    close: () => agent.destroy(),
  };
}

/** A name that resolves to two addresses fails with an error for each, and no message of its own. */
function reasonOf(error: unknown): string {
  if (error instanceof AggregateError) return reasonOf(error.errors[0]);
  return error instanceof Error ? error.message : String(error);
}
