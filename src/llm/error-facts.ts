import { parseDuration } from './durations.js';
import { countOf, isRecord, type JsonRecord, listOf, member, nonBlank, parseJson } from './narrow.js';
import { stripTags } from './redact.js';

/**
 * Enough for every known error text; an error may quote the whole prompt. Where a text is cut, a secret may be cut with
 * it: cleaners take such a part at the end of a text for what it is.
 */
const TEXT_LIMIT = 8_192;
/** A message may hold a JSON document as a string, which may hold another one. */
const MAX_UNWRAPS = 3;
const MAX_DEPTH = 8;

/** What an error document says, whatever its shape. */
export interface ErrorFacts {
  /** The innermost message: the provider's own words, not the gateway's "Provider returned error". */
  readonly text: string;
  /** Every code, type and status word found on the way in, in lower case. */
  readonly codes: readonly string[];
  /** An HTTP status between 400 and 599 that the document names, as a number or as text. */
  readonly status: number | null;
  readonly param: string | null;
  /** llama.cpp names the sizes as fields instead of in the text. */
  readonly windowTokens: number | null;
  readonly requestedTokens: number | null;
  /** Google's `RetryInfo`, in ms. */
  readonly retryInfoMs: number | null;
  /** Upstream headers that OpenRouter passes on inside the document. */
  readonly headers: JsonRecord;
}

type Draft = { -readonly [Key in keyof ErrorFacts]: ErrorFacts[Key] } & { codes: string[] };

/** Reads the body of a refused request: JSON of any shape, HTML, plain text, or nothing. */
export function readErrorBody(body: string): ErrorFacts {
  const trimmed = body.replace(/^\uFEFF/, '').trim();
  const document = parseJson(trimmed);
  if (document !== undefined) return readErrorDocument(document);
  return { ...emptyDraft(), text: stripTags(trimmed).trim().slice(0, TEXT_LIMIT) };
}

/** Reads an error that arrived as a JSON document, or as a bare string. */
export function readErrorDocument(document: unknown): ErrorFacts {
  const draft = emptyDraft();
  draft.text = (textIn(document, draft, 0, 0) ?? '').slice(0, TEXT_LIMIT);
  return draft;
}

function emptyDraft(): Draft {
  return {
    text: '',
    codes: [],
    status: null,
    param: null,
    windowTokens: null,
    requestedTokens: null,
    retryInfoMs: null,
    headers: {},
  };
}

function textIn(value: unknown, draft: Draft, depth: number, unwraps: number): string | null {
  if (depth > MAX_DEPTH) return null;
  if (typeof value === 'string') {
    const inner = unwraps < MAX_UNWRAPS && /^\s*["[{]/.test(value) ? parseJson(value) : undefined;
    return (inner === undefined ? null : textIn(inner, draft, depth + 1, unwraps + 1)) ?? nonBlank(value);
  }
  if (Array.isArray(value)) return textIn(value[0], draft, depth + 1, unwraps);
  if (!isRecord(value)) return null;
  collect(value, draft);
  const inside = (part: unknown): string | null => textIn(part, draft, depth + 1, unwraps);
  const raw = inside(member(value['metadata'], 'raw'));
  if (raw !== null) return raw;
  const error = inside(value['error']);
  const message = inside(value['message']);
  // A short word beside a sentence (`"error": "INSUFFICIENT QUOTA"`): both are needed to tell what it means.
  if (typeof value['error'] === 'string' && error !== null && message !== null) return `${error}: ${message}`;
  return (
    error ??
    message ??
    detailText(value['detail'], draft, inside) ??
    inside(value['errors']) ??
    inside(value['msg']) ??
    inside(value['html-message'])
  );
}

/** FastAPI's `detail`: a text, or a list that names the place of each mistake. */
function detailText(detail: unknown, draft: Draft, inside: (part: unknown) => string | null): string | null {
  const entries = listOf(detail).filter(isRecord);
  if (entries.length === 0) return inside(detail);
  const lines = entries.map((entry) => {
    const place = listOf(entry['loc']).filter((step) => typeof step === 'string' || typeof step === 'number');
    const last = place.at(-1);
    if (typeof last === 'string') draft.param ??= last;
    collect(entry, draft);
    return [place.join('.'), nonBlank(entry['msg']) ?? ''].filter((part) => part !== '').join(': ');
  });
  return nonBlank(lines.join('; '));
}

function collect(record: JsonRecord, draft: Draft): void {
  const words = [record['code'], record['type'], record['status'], member(record['innererror'], 'code')];
  if (typeof record['error'] === 'string' && record['error'].length <= 64) words.push(record['error']);
  for (const word of words) if (typeof word === 'string' && word !== '') draft.codes.push(word.toLowerCase());
  draft.status ??= statusOf(record['code']) ?? statusOf(record['status']) ?? statusOf(record['status_code']);
  draft.param ??= nonBlank(record['param']);
  draft.windowTokens ??= countOf(record['n_ctx']) || null;
  draft.requestedTokens ??= countOf(record['n_prompt_tokens']) || null;
  for (const detail of listOf(record['details'])) {
    const delay = nonBlank(member(detail, 'retryDelay'));
    if (delay !== null) draft.retryInfoMs ??= parseDuration(delay);
    // The quota that ran out is only named here; its id tells a limit per minute from one per day.
    for (const violation of listOf(member(detail, 'violations'))) {
      const quota = nonBlank(member(violation, 'quotaId'));
      if (quota !== null) draft.codes.push(quota.toLowerCase());
    }
  }
  const headers = member(record['metadata'], 'headers');
  if (isRecord(headers)) draft.headers = headers;
}

function statusOf(value: unknown): number | null {
  const number = typeof value === 'string' && /^\d{3}$/.test(value) ? Number(value) : value;
  return typeof number === 'number' && Number.isInteger(number) && number >= 400 && number <= 599
    ? number
    : null;
}
