import type { CallResult, Failure, Usage } from '../llm/outcome.js';
import type { Logger } from '../logger.js';
import type { Summarizer } from './summarizer.js';

/** Failures of the endpoint, which another one may not have. What is wrong with the request would be wrong there too. */
const OF_THE_ENDPOINT: ReadonlySet<Failure['kind']> = new Set<Failure['kind']>([
  'unavailable',
  'timeout',
  'rate_limited',
  'quota',
  'auth',
  'incomplete',
  'empty',
  'protocol',
]);

/**
 * Asks a second summarizer when the endpoint of the first one fails. Only where that is configured: a model is
 * never changed in silence, and the result says which one answered.
 */
export function withFallback(first: Summarizer, second: Summarizer, logger: Logger): Summarizer {
  return {
    model: first.model,
    budget: first.budget,
    maxOutputTokens: first.maxOutputTokens,
    ready: async (signal) => {
      const [one, two] = await Promise.all([first.ready(signal), second.ready(signal)]);
      return withFallback(one, two, logger);
    },
    summarize: async (request) => {
      const failed = await first.summarize(request);
      const { outcome } = failed;
      if (outcome.kind === 'ok' || !OF_THE_ENDPOINT.has(outcome.kind)) return failed;
      logger.warn(
        { model: first.model, kind: outcome.kind, fallback: second.model },
        'the fallback is asked',
      );
      const result = await second.summarize(request);
      return {
        outcome: result.outcome,
        requests: failed.requests + result.requests,
        usage: together(failed, result),
        answeredBy: second.model,
      };
    },
  };
}

function together(a: CallResult, b: CallResult): Usage {
  const sum = (name: keyof Usage) =>
    a.usage[name] === null ? b.usage[name] : a.usage[name] + (b.usage[name] ?? 0);
  return { inputTokens: sum('inputTokens'), outputTokens: sum('outputTokens') };
}
