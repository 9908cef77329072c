import type { CallResult, Failure, Usage } from '../llm/outcome.js';
import type { Logger } from '../logger.js';
import { costOf } from './budget.js';
import { summaryPrompt } from './prompt.js';
import type { Summarizer, SummarizerBudget, SummaryRequest } from './summarizer.js';

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
 * never changed in silence, and the result says which one answered. From the first failure on, the second one is asked
 * for the rest of the compaction, within its own limits: `ready` begins anew.
 */
export function withFallback(first: Summarizer, second: Summarizer, logger: Logger): Summarizer {
  let hasFailed = false;
  const budget = smallerBudget(first.budget, second.budget);
  const asked = (): Summarizer => (hasFailed ? second : first);
  const askSecond = async (request: SummaryRequest): Promise<CallResult> => ({
    ...(await second.summarize(request)),
    answeredBy: second.model,
  });
  return {
    get model() {
      return asked().model;
    },
    get budget() {
      return hasFailed ? budget : first.budget;
    },
    get maxOutputTokens() {
      return asked().maxOutputTokens;
    },
    ready: async (signal) => {
      const [one, two] = await Promise.all([first.ready(signal), second.ready(signal)]);
      return withFallback(one, two, logger);
    },
    summarize: async (request) => {
      if (hasFailed) return askSecond(request);
      const failed = await first.summarize(request);
      const { outcome } = failed;
      if (outcome.kind === 'ok' || !OF_THE_ENDPOINT.has(outcome.kind)) return failed;
      logger.warn(
        { model: first.model, kind: outcome.kind, fallback: second.model },
        'the fallback is asked',
      );
      hasFailed = true;
      if (!isWithin(request, { first, second })) return { ...failed, isHandedOver: true };
      const result = await askSecond(request);
      return {
        ...result,
        requests: failed.requests + result.requests,
        usage: together(failed, result),
      };
    },
  };
}

/** Whether a request that was made for the first one is as it would be made for the second. */
function isWithin(
  request: SummaryRequest,
  { first, second }: { readonly first: Summarizer; readonly second: Summarizer },
): boolean {
  // A cap that was raised is a multiple of the first one's.
  if (request.maxOutputTokens !== null || first.maxOutputTokens !== second.maxOutputTokens) return false;
  const [one, two] = [first.budget, second.budget];
  if (one.unit === 'tokens' && (two.unit !== 'tokens' || two.windowTokens < one.windowTokens)) return false;
  if (one.unit === 'chars' && (two.unit !== 'chars' || two.transcriptChars < one.transcriptChars))
    return false;
  const most = two.pace?.().next ?? Number.POSITIVE_INFINITY;
  return costOf(summaryPrompt(request), 'tokens') <= most;
}

/**
 * The budget of the second one, or of both where the first one has the smaller window: it is to go on from the summary
 * another time. Chars are only taken where no window is known.
 */
function smallerBudget(first: SummarizerBudget, second: SummarizerBudget): SummarizerBudget {
  if (first.unit === 'chars' || second.unit === 'chars') return second;
  return { ...second, windowTokens: Math.min(first.windowTokens, second.windowTokens) };
}

function together(a: CallResult, b: CallResult): Usage {
  const sum = (name: keyof Usage) =>
    a.usage[name] === null ? b.usage[name] : a.usage[name] + (b.usage[name] ?? 0);
  return { inputTokens: sum('inputTokens'), outputTokens: sum('outputTokens') };
}
