import { AppError } from '../errors.js';
import type { CallOrigin, CircuitBreaker } from '../llm/circuit-breaker.js';
import type { Outcome } from '../llm/outcome.js';
import type { Summarizer } from './summarizer.js';

/** Automatic work was kept away from an endpoint that is down: nothing was sent, so nothing has failed. */
export class EndpointLeftAlone extends AppError {
  constructor(model: string, waitMs: number) {
    const detail = `${model}: the endpoint failed several times in a row and is left alone for a while`;
    super('MODEL_UNAVAILABLE', detail, { retryAfterSeconds: Math.max(1, Math.ceil(waitMs / 1_000)) });
  }
}

/** Whether an error, or what caused it, is that automatic work was kept away. */
export function isLeftAlone(error: unknown): boolean {
  for (let current = error; current instanceof Error; current = current.cause) {
    if (current instanceof EndpointLeftAlone) return true;
  }
  return false;
}

/** How all endpoints are together is not known before the next one is asked. */
const HANDED_OVER: Outcome = { kind: 'aborted', message: '', status: null };

/**
 * A summarizer whose endpoint is left alone for a while by automatic work after it has failed several times in a
 * row. Calls that somebody makes by hand always go through, and tell how the endpoint is. Unlike others, it throws
 * where it does not even try: EndpointLeftAlone, from `ready` on, so that no lease is taken for nothing.
 */
export function guarded(summarizer: Summarizer, breaker: CircuitBreaker, origin: CallOrigin): Summarizer {
  return {
    // Read anew each time: with a fallback they change when it takes over.
    get model() {
      return summarizer.model;
    },
    get budget() {
      return summarizer.budget;
    },
    get maxOutputTokens() {
      return summarizer.maxOutputTokens;
    },
    ready: async (signal) => {
      if (origin === 'automatic' && breaker.waitMs > 0)
        throw new EndpointLeftAlone(summarizer.model, breaker.waitMs);
      return guarded(await summarizer.ready(signal), breaker, origin);
    },
    summarize: async (request) => {
      const report = breaker.enter(origin);
      if (report === null) throw new EndpointLeftAlone(summarizer.model, breaker.waitMs);
      const result = await summarizer.summarize(request);
      report(result.isHandedOver === true ? HANDED_OVER : result.outcome);
      return result;
    },
  };
}
