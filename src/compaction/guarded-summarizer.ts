import type { CallOrigin, CircuitBreaker } from '../llm/circuit-breaker.js';
import type { Summarizer } from './summarizer.js';

/**
 * A summarizer whose endpoint is left alone for a while by automatic work after it has failed several times in a
 * row. Calls that somebody makes by hand always go through, and tell how the endpoint is.
 */
export function guarded(summarizer: Summarizer, breaker: CircuitBreaker, origin: CallOrigin): Summarizer {
  return {
    ...summarizer,
    ready: async (signal) => guarded(await summarizer.ready(signal), breaker, origin),
    summarize: async (request) => {
      const report = breaker.enter(origin);
      if (report === null) {
        return {
          outcome: {
            kind: 'unavailable',
            message: 'The endpoint failed several times in a row and is left alone for a while',
            status: null,
            retryAfterMs: breaker.waitMs,
          },
          requests: 0,
          usage: { inputTokens: null, outputTokens: null },
        };
      }
      const result = await summarizer.summarize(request);
      report(result.outcome);
      return result;
    },
  };
}
