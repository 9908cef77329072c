import { ownWords } from './own-words.js';

/**
 * How endpoints say that a prompt does not fit the model's window. There is no common code for it, so their
 * texts are matched; each line is the wording of at least one server. Only where a message begins: further on it may
 * quote the prompt, and a prompt may say anything.
 */

const N = String.raw`(\d[\d,_]*)`;
const pattern = (source: string): RegExp => new RegExp(source.replaceAll('#', N), 'i');

/** Wordings that mean an overflow wherever they appear. */
const CERTAIN = [
  'context_length_exceeded',
  'exceed_context_size_error',
  'ContextWindowExceeded',
  'model_context_window_exceeded',
  'request_too_large',
  'maximum context length',
  'exceed the configured limit of # tokens',
  "exceeds? the (?:model'?s? )?context window",
  'context window exceeds limit',
  "longer than the model'?s context length",
  "exceeds? (?:the )?(?:available |model'?s )?context (?:size|length)",
  'context size has been exceeded',
  'when context the overflows',
  'greater than the context length',
  'prompt is too long',
  'exceed context limit',
  'input is too long for (?:the )?requested model',
  'exceeds the maximum number of tokens allowed',
  'reduce the length of the (?:messages|prompt|input)',
  'maximum prompt length is',
  '`?inputs`? tokens \\+ `?max_new_tokens`? must be',
  'current length is # while limit is',
  'exceeded model token limit',
  'prompt token count of # exceeds the limit',
  'max_tokens must be at least 1, got -',
].map(pattern);

/** Wordings that mean it only in the refusal of a request; elsewhere they appear in ordinary texts. */
const LIKELY = ['context length exceeded', 'context window', 'too many tokens', 'token limit exceeded'].map(
  pattern,
);

/**
 * How servers of one's own say it with a status of 500: llama.cpp and what is built on it. Only as a whole code, or as
 * the beginning of the message: the same texts in the middle of a crash report mean nothing.
 */
const CODES_OF_500 = ['exceed_context_size_error', 'context_length_exceeded'];
const TEXTS_OF_500 = [
  '^(?:the )?request (?:\\(# tokens\\) )?exceeds the available context size',
  '^context size has been exceeded',
  '^(?:the )?input length exceeds (?:the )?context length',
  '^trying to keep the first # tokens when context the overflows',
].map(pattern);

/** Longest that the beginning of a message is, in UTF-16 units: some gateways put several names before it. */
const BEGINNING = 200;

const WINDOW = [
  'maximum context length(?: is|:)(?: only)? #',
  'model with # maximum context length',
  'configured limit of # tokens',
  'context size \\(# tokens',
  'context length of only #',
  'tokens > # maximum',
  'exceed context limit: \\d+ \\+ \\d+ > #',
  'number of tokens allowed:? \\(?#',
  'maximum prompt length is #',
  'must be <= #',
  'while limit is #',
  'model token limit: #',
  'exceeds the limit of #',
].map(pattern);

/** Two groups are two parts of one request: the prompt and the room it asked for. */
const REQUESTED = [
  'is too large: #\\..*your request has # input tokens',
  'resulted in # tokens',
  'requested (?:about )?# tokens',
  'your request has # input tokens',
  'prompt is too long: #',
  'exceed context limit: # \\+ #',
  'input token count (?:of )?\\(?#',
  'prompt contains # tokens',
  'the request contains # tokens',
  'current length is #',
  '\\(requested: #',
  'prompt token count of #',
  'request \\(# tokens\\)',
  'keep the first # tokens',
  'given: # `?inputs`? tokens and #',
].map(pattern);

export type OverflowConfidence = 'certain' | 'likely' | 'none';

/** What a refusal says, as its document has it. */
interface Said {
  readonly codes: readonly string[];
  readonly text: string;
}

export function overflowConfidence({ codes, text }: Said): OverflowConfidence {
  const names = codes.filter((code) => /^[\w.:-]+$/.test(code));
  const words = ownWords(text);
  const isSaid = (regexp: RegExp): boolean =>
    names.some((name) => regexp.test(name)) ||
    (regexp.exec(words)?.index ?? Number.POSITIVE_INFINITY) < BEGINNING;
  if (CERTAIN.some(isSaid)) return 'certain';
  return LIKELY.some(isSaid) ? 'likely' : 'none';
}

/** The same for an answer with a status of 500 and up, where hardly anything means an overflow. */
export function isOverflowOf500({ codes, text }: Said): boolean {
  return (
    codes.some((code) => CODES_OF_500.includes(code)) ||
    TEXTS_OF_500.some((regexp) => regexp.test(text.trimStart()))
  );
}

/** The sizes in tokens that a text names; null where it names none. */
export function overflowSizes(text: string): { windowTokens: number | null; requestedTokens: number | null } {
  const words = ownWords(text);
  return { windowTokens: firstNumber(WINDOW, words), requestedTokens: firstNumber(REQUESTED, words) };
}

/**
 * The output cap alone is larger than the window, so that no prompt however small would fit: vLLM reports this
 * with the same sentence as a prompt that is too long.
 */
export function isCapAboveWindow(text: string): boolean {
  const words = ownWords(text);
  const cap = firstNumber([pattern('is too large: #')], words);
  const window = firstNumber(WINDOW, words);
  return cap !== null && window !== null && cap >= window;
}

function firstNumber(patterns: readonly RegExp[], text: string): number | null {
  for (const regexp of patterns) {
    const match = regexp.exec(text);
    if (match === null) continue;
    const total = match.slice(1).reduce((sum, digits) => sum + Number(digits.replace(/[,_]/g, '')), 0);
    if (Number.isSafeInteger(total) && total > 0) return total;
  }
  return null;
}
