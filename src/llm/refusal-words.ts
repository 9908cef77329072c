import type { ErrorFacts } from './error-facts.js';

/**
 * Codes and texts that tell refusals of the same HTTP status apart. Texts are only asked where a status leaves
 * the question open: an error may quote the prompt, and a prompt may say anything.
 */

const says = (facts: ErrorFacts, codes: RegExp, text: RegExp | null = null): boolean =>
  facts.codes.some((code) => codes.test(code)) || (text?.test(facts.text) ?? false);

/** An account that is used up for long: waiting a minute does not help. Beats any delay hint. */
export function isAccountExhausted(facts: ErrorFacts): boolean {
  return says(
    facts,
    /per[-_ ]?(?:day|month)|daily|monthly|^billing|insufficient[_ ](?:balance|credits?)|payment_required/,
    /per[-_ ]?(?:day|month)\b|daily (?:limit|quota)|monthly (?:limit|quota)|free_tier_daily|insufficient (?:balance|credit)|credit balance|out of credits/i,
  );
}

/** Words of an exhausted account that some vendors also use for a limit per minute. */
export function isQuotaWording(facts: ErrorFacts): boolean {
  return says(
    facts,
    /insufficient[_ ]quota|quota_exceeded/,
    /insufficient[_ ]quota|exceeded your current quota|billing|\bcredits?\b|\bbalance\b/i,
  );
}

export function isPolicyBlock(facts: ErrorFacts, status: number | null): boolean {
  const text =
    status === 403 ? /moderation|flagged/i : /content management policy|ResponsibleAIPolicyViolation/i;
  return says(
    facts,
    /^(?:content_filter|content_policy_violation|responsibleaipolicyviolation|moderation.*)$/,
    text,
  );
}

export function isBadKey(facts: ErrorFacts): boolean {
  return says(
    facts,
    /^(?:authentication_error|invalid_api_key|permission_error|permission_denied|unauthenticated|unauthorized)$/,
    /api key not valid|(?:incorrect|invalid) api key/i,
  );
}

export function isRateWording(facts: ErrorFacts): boolean {
  return says(
    facts,
    /^(?:rate_limit.*|resource_exhausted|too_many_requests)$/,
    /rate limit|too many requests/i,
  );
}

/** A chat template's own check that failed. Some servers answer 500, but the same request fails for ever. */
export function isTemplateError(facts: ErrorFacts): boolean {
  return /raise_exception|jinja exception|roles must alternate|jinja2?\.exceptions|role not supported/i.test(
    facts.text,
  );
}

export function isInvalidRequest(facts: ErrorFacts): boolean {
  return says(facts, /^(?:invalid_request_error|badrequesterror|invalid_argument|not_found_error)$/);
}

/**
 * One request above the tokens allowed per minute ("TPM: Limit 6000, Requested 7200"). It looks like a rate limit
 * and like an overflow, and is neither: it never passes as it is, and the limit is not the model's window.
 */
export function isAboveMinuteAllowance(facts: ErrorFacts): boolean {
  if (!/tokens per (?:min|day)|\bTP[MD]\b/i.test(facts.text)) return false;
  if (/request too large/i.test(facts.text)) return true;
  const sizes = /limit:? ([\d,]+), requested:? ([\d,]+)/i.exec(facts.text);
  const [limit, requested] = (sizes ?? []).slice(1).map((digits) => Number(digits.replaceAll(',', '')));
  return limit !== undefined && requested !== undefined && requested > limit;
}

/** A server that is up while its model is still being read into memory: it only takes time. */
export function isLoadingModel(facts: ErrorFacts): boolean {
  return /\bloading (?:the )?model\b|\bmodel\b[^.]{0,80}\b(?:is|being) (?:still |currently )*(?:being )?load(?:ing|ed)\b/i.test(
    facts.text,
  );
}
