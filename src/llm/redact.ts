import { secretForms } from './secret-forms.js';

const MESSAGE_LIMIT = 300;
/** Replacing a key this short would make every message unreadable, and it protects nothing. */
const SHORTEST_SECRET = 4;
/** What keys look like: OpenAI, Anthropic, OpenRouter (`sk-`), Groq, xAI, Google; masked with `*` or not. */
const KEY_SHAPES = [/\bBearer\s+[^\s"',;]+/gi, /\b(?:sk|gsk|xai|pk|rk)[-_][\w*.-]{6,}/g, /\bAIza[\w-]{20,}/g];
const ENTITIES: Readonly<Record<string, string>> = {
  '&lt;': '<',
  '&gt;': '>',
  '&quot;': '"',
  '&#39;': "'",
  '&nbsp;': ' ',
  '&amp;': '&',
};

/** Turns text from anywhere into one line for people. */
export type CleanText = (text: string, limit?: number) => string;

/**
 * A cleaner that knows the endpoint's key. Error texts of endpoints quote the key they refused, HTML error pages
 * and whole prompts; what leaves this client is one line of at most `limit` characters, without tags, with every
 * key, encoded or not, replaced by `[REDACTED]`. Keys are replaced before the text is cut, so that no part of one is left at the end.
 */
export function createCleaner(secrets: readonly string[]): CleanText {
  const known = secretForms(secrets, SHORTEST_SECRET);
  const redact = (text: string): string => {
    const withoutKnown = known.reduce((rest, secret) => rest.replaceAll(secret, '[REDACTED]'), text);
    return KEY_SHAPES.reduce((rest, shape) => rest.replace(shape, '[REDACTED]'), withoutKnown);
  };
  return (text, limit = MESSAGE_LIMIT) => cut(foldSpace(redact(stripTags(redact(text)))), limit);
}

/** The readable text of an HTML page. `<=` and `<|token|>` are no tags and stay. */
export function stripTags(text: string): string {
  return text
    .replace(/<(script|style|head)\b[^>]*>[\s\S]*?<\/\1\s*>/gi, ' ')
    .replace(/<[a-z/!?][^>]*>/gi, ' ')
    .replace(/&(?:lt|gt|quot|#39|nbsp|amp);/g, (entity) => ENTITIES[entity] ?? ' ');
}

function foldSpace(text: string): string {
  return text.replace(/[\s\p{Cc}]+/gu, ' ').trim();
}

function cut(text: string, limit: number): string {
  const whole = text.toWellFormed();
  if (whole.length <= limit) return whole;
  // A cut between the halves of a surrogate pair would leave a lone one; it is dropped.
  return `${whole.slice(0, limit - 1).replace(/[\uD800-\uDBFF]$/, '')}\u2026`;
}
