import type { IncomingHttpHeaders } from 'node:http';
import type { ErrorFacts } from './error-facts.js';
import { namedParameter } from './named-parameter.js';
import type { Failure } from './outcome.js';
import { isCapAboveWindow, isOverflowOf500, overflowConfidence, overflowSizes } from './overflow-patterns.js';
import type { CleanText } from './redact.js';
import * as words from './refusal-words.js';
import { explicitDelay, rateLimitDelay } from './retry-delay.js';

/** Statuses outside 5xx after which the same request may pass later: timeouts, conflicts, no capacity. */
const PASSING_STATUSES: readonly number[] = [408, 409, 425, 498, 499];
/** Longest wait that marks a limit as short, and thereby as no exhausted account, in ms. */
const SHORT_DELAY_MS = 60_000;

/** An error that an endpoint reported: by its HTTP status, or inside an answer with status 200. */
export interface Refusal {
  readonly httpStatus: number;
  readonly headers: IncomingHttpHeaders;
  readonly facts: ErrorFacts;
  readonly url: URL;
  readonly clean: CleanText;
}

/** Decides what a reported error means: whether waiting, shrinking, or nothing at all can help. */
export function classify(refusal: Refusal): Failure {
  const { facts, httpStatus } = refusal;
  const inBand = httpStatus < 400;
  const status = inBand ? facts.status : httpStatus;
  const base = { message: describe(refusal, status), status: httpStatus };
  const rejected = (): Failure => ({ ...base, kind: 'bad_request', param: namedParameter(facts) });
  const delayed = (kind: 'rate_limited' | 'unavailable'): Failure => ({
    ...base,
    kind,
    retryAfterMs:
      kind === 'unavailable' ? explicitDelay(refusal.headers, facts) : rateLimitDelay(refusal.headers, facts),
  });

  if (status !== 401 && words.isAboveMinuteAllowance(facts)) return rejected();
  if (status === 401 || status === 407) return { ...base, kind: 'auth' };
  if (isOneOf(status, [400, 403, 422, null]) && words.isPolicyBlock(facts, status))
    return { ...base, kind: 'policy' };
  if (status === 402) {
    // OpenRouter answers 402 while other requests hold the rest of the budget; it is free again when they end.
    return facts.codes.includes('in_flight_budget_exhausted')
      ? delayed('rate_limited')
      : { ...base, kind: 'quota' };
  }
  if (status === 403) return { ...base, kind: words.isQuotaWording(facts) ? 'quota' : 'auth' };
  if (isOverflow(refusal, status)) {
    const sizes = overflowSizes(facts.text);
    return {
      ...base,
      kind: 'overflow',
      windowTokens: facts.windowTokens ?? sizes.windowTokens,
      requestedTokens: facts.requestedTokens ?? sizes.requestedTokens,
    };
  }
  if (isOneOf(status, [400, null]) && words.isBadKey(facts)) return { ...base, kind: 'auth' };
  if (status === 429 || (status === null && (words.isRateWording(facts) || words.isQuotaWording(facts)))) {
    return isQuota(refusal) ? { ...base, kind: 'quota' } : delayed('rate_limited');
  }
  if (status === null) return words.isInvalidRequest(facts) ? rejected() : delayed('unavailable');
  if (status >= 500) return words.isTemplateError(facts) ? rejected() : delayed('unavailable');
  return PASSING_STATUSES.includes(status) ? delayed('unavailable') : rejected();
}

function isOneOf(status: number | null, statuses: readonly (number | null)[]): boolean {
  return statuses.includes(status);
}

function isOverflow({ facts, httpStatus, url }: Refusal, status: number | null): boolean {
  if (status !== null && status >= 500) return isOverflowOf500(facts);
  if (!isOneOf(status, [400, 413, 422, null])) return false;
  // The length of one field is limited too, which has nothing to do with the window.
  if (facts.codes.includes('string_above_max_length')) return false;
  if (isCapAboveWindow(facts.text)) return false;
  if (overflowConfidence(facts) !== 'none' || status === 413) return true;
  // Cerebras sends no body at all with this refusal. From any other host an empty 400 says nothing.
  return httpStatus === 400 && facts.text === '' && /(?:^|\.)cerebras\.ai$/i.test(url.hostname);
}

/**
 * 429 means "too fast" or "account used up". A short explicit delay says the former, even where the text talks of
 * quota and billing (Gemini does so for its limits per minute), but not where it names a day or a month.
 */
function isQuota({ headers, facts }: Refusal): boolean {
  if (words.isAccountExhausted(facts)) return true;
  const delay = explicitDelay(headers, facts);
  const isShort = delay !== null && delay > 0 && delay <= SHORT_DELAY_MS;
  return words.isQuotaWording(facts) && !isShort;
}

function describe({ httpStatus, facts, url, clean }: Refusal, status: number | null): string {
  const what =
    httpStatus < 400 ? 'The model endpoint reported an error' : `The model endpoint answered ${httpStatus}`;
  // A wrong model and a wrong path both end in 404; seeing the address tells them apart. Never its query.
  const where = status === 404 ? ` for ${url.origin}${url.pathname}` : '';
  return clean(facts.text === '' ? `${what}${where}` : `${what}${where}: ${facts.text}`);
}
