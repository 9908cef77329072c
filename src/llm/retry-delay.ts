import type { IncomingHttpHeaders } from 'node:http';
import { delayInText, parseDuration } from './durations.js';
import type { ErrorFacts } from './error-facts.js';

type Headers = Readonly<Record<string, unknown>>;

/** Longest delay that is believed, in ms: a day. What is more (`Infinity`, `1e25`) means "not today" as well. */
const LONGEST_DELAY_MS = 86_400_000;
/** Larger numbers are epoch milliseconds, smaller ones epoch seconds: the border is in the year 5138 or 1973. */
const EPOCH_MS_FROM = 100_000_000_000;
const EPOCH_SECONDS_FROM = 1_000_000_000;
/** A number, also between quotes, or the first of several: a header that came twice is joined with a comma. */
const NUMBER = /^"?([+-]?(?:\d+(?:\.\d+)?(?:e[+-]?\d+)?|Infinity))"?(?:\s*[,;].*)?$/i;
const MONTH = '(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)';
const TIME = String.raw`\d\d:\d\d:\d\d`;
const HTTP_DATE = new RegExp(
  [
    String.raw`^[a-z]{3}, \d{1,2} ${MONTH} \d{4} ${TIME} GMT$`,
    String.raw`^[a-z]{6,9}, \d\d-${MONTH}-\d\d ${TIME} GMT$`,
    String.raw`^[a-z]{3} ${MONTH} [ \d]\d ${TIME} \d{4}$`,
  ].join('|'),
  'i',
);
const ISO_DATE = /^\d{4}-\d\d-\d\dT\d\d:\d\d/;

/**
 * How long the endpoint explicitly asks to wait, in ms: headers first, then `RetryInfo`, then the error text.
 * Null when it does not ask; what is negative or no number does not count as asking. At most a day.
 */
export function explicitDelay(headers: IncomingHttpHeaders, facts: ErrorFacts): number | null {
  return (
    headerDelay(headers) ??
    headerDelay(lowerCased(facts.headers)) ??
    valid(facts.retryInfoMs) ??
    valid(delayInText(facts.text))
  );
}

/**
 * The delay of a rate limit: what is asked for, else when the limit that ran out is reset. The reset headers are
 * sent with every reply, so they say nothing about any other kind of failure.
 */
export function rateLimitDelay(headers: IncomingHttpHeaders, facts: ErrorFacts): number | null {
  return (
    headerDelay(headers) ??
    resetDelay(headers) ??
    resetDelay(lowerCased(facts.headers)) ??
    explicitDelay({}, facts)
  );
}

function headerDelay(headers: Headers): number | null {
  return (
    valid(numberIn(headers['retry-after-ms'])) ??
    valid(numberIn(headers['x-ms-retry-after-ms'])) ??
    retryAfter(headers)
  );
}

/**
 * `Retry-After` in (fractions of) seconds or as a date. A date is read against the server's own clock. Only the three
 * forms that HTTP has for dates are: `Date.parse` takes `"3600"` and `3600, 1` for the year 3600.
 */
function retryAfter(headers: Headers): number | null {
  const value = textIn(headers['retry-after']);
  if (value === null) return null;
  const seconds = numberIn(value);
  if (seconds !== null) return valid(seconds * 1_000);
  const at = httpDate(value);
  return at === null ? null : valid(at - (httpDate(textIn(headers['date']) ?? '') ?? Date.now()));
}

/** In ms since the epoch; null for what is no date of HTTP (RFC 9110, 5.6.7). */
function httpDate(text: string): number | null {
  if (!HTTP_DATE.test(text)) return null;
  // The form of `asctime` has no zone, and means UTC.
  const at = Date.parse(text.endsWith('GMT') ? text : `${text} GMT`);
  return Number.isNaN(at) ? null : at;
}

function resetDelay(headers: Headers): number | null {
  const vendor = ['requests', 'tokens', 'input-tokens', 'output-tokens'].map((what) =>
    textIn(headers[`anthropic-ratelimit-${what}-reset`]),
  );
  const date = vendor
    .map((text) => (text !== null && ISO_DATE.test(text) ? valid(Date.parse(text) - Date.now()) : null))
    .filter((ms) => ms !== null);
  return (
    exhaustedReset(headers) ??
    epochReset(headers['x-ratelimit-reset']) ??
    (date.length > 0 ? Math.max(...date) : null)
  );
}

/** `x-ratelimit-reset-requests` and `-tokens`: the one with nothing remaining decides, else the longer one. */
function exhaustedReset(headers: Headers): number | null {
  const limits = ['requests', 'tokens'].map((what) => ({
    delay: valid(durationOrSeconds(textIn(headers[`x-ratelimit-reset-${what}`]))),
    exhausted: numberIn(headers[`x-ratelimit-remaining-${what}`]) === 0,
  }));
  const exhausted = limits.filter((limit) => limit.exhausted);
  const delays = (exhausted.length > 0 ? exhausted : limits)
    .map((limit) => limit.delay)
    .filter((ms) => ms !== null);
  return delays.length > 0 ? Math.max(...delays) : null;
}

function durationOrSeconds(text: string | null): number | null {
  if (text === null) return null;
  const seconds = numberIn(text);
  return seconds === null ? parseDuration(text) : seconds * 1_000;
}

function epochReset(value: unknown): number | null {
  const number = numberIn(value);
  if (number === null) return durationOrSeconds(textIn(value));
  if (number >= EPOCH_MS_FROM) return valid(number - Date.now());
  return valid(number >= EPOCH_SECONDS_FROM ? number * 1_000 - Date.now() : number * 1_000);
}

function valid(ms: number | null): number | null {
  // Of `NaN` neither comparison holds.
  return ms !== null && ms >= 0 ? Math.min(Math.ceil(ms), LONGEST_DELAY_MS) : null;
}

function textIn(value: unknown): string | null {
  const first: unknown = Array.isArray(value) ? value[0] : value;
  if (typeof first === 'number') return String(first);
  return typeof first === 'string' && first.trim() !== '' ? first.trim() : null;
}

function numberIn(value: unknown): number | null {
  const number = NUMBER.exec(textIn(value) ?? '')?.[1];
  return number === undefined ? null : numberOf(number);
}

function numberOf(text: string): number {
  // `Number` knows the word in one spelling only.
  return /^\+?infinity$/i.test(text) ? Number.POSITIVE_INFINITY : Number(text);
}

function lowerCased(headers: Headers): Headers {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
}
