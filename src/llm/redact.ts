import { secretForms } from './secret-forms.js';
import { TextMask } from './text-mask.js';

const MESSAGE_LIMIT = 300;
/** A shorter key is a part of ordinary messages, which would become unreadable, and protects nothing. */
const SHORTEST_SECRET = 8;
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
/** Elements whose content is not for reading, by the start of their tag. */
const UNREADABLE = /^<(script|style|head)\b/i;
/** Of such a start, with the char that ends the name. */
const LONGEST_NAME = '<script>'.length;

/** Turns text from anywhere into one line for people. */
export type CleanText = (text: string, limit?: number) => string;

/**
 * A cleaner that knows the endpoint's key. Error texts of endpoints quote the key they refused, HTML error pages
 * and whole prompts; what leaves this client is one line of at most `limit` characters, without tags, with every
 * key, encoded or not, replaced by `[REDACTED]`. Keys are replaced before the text is cut, so that no part of one is
 * left at the end; a text that was cut before ends in no part either. A tag or a blank does not divide a key.
 */
export function createCleaner(secrets: readonly string[]): CleanText {
  const keys = secrets.filter((secret) => secret.length >= SHORTEST_SECRET);
  const mask = new TextMask(secretForms(keys), 'blank');
  const redact = (text: string): string => {
    const withoutKnown = mask.cut(text);
    return KEY_SHAPES.reduce((rest, shape) => rest.replace(shape, '[REDACTED]'), withoutKnown);
  };
  return (text, limit = MESSAGE_LIMIT) => cut(foldSpace(redact(stripTags(redact(text)))), limit);
}

/**
 * The readable text of an HTML page. `<=` and `<|token|>` are no tags and stay. Looks at each char a fixed number of
 * times at most: error pages come from strangers, and `<a<a<a...` must not hold everything up.
 */
export function stripTags(text: string): string {
  const unclosed = new Set<string>();
  let readable = '';
  let at = 0;
  for (let open = text.indexOf('<'); open >= 0; open = text.indexOf('<', at)) {
    const isTag = /[a-z/!?]/i.test(text.charAt(open + 1));
    const close = isTag ? text.indexOf('>', open) : open;
    // Without an end of a tag there is no further one.
    if (close < 0) break;
    readable += isTag ? `${text.slice(at, open)} ` : text.slice(at, open + 1);
    at = close + 1;
    const name = isTag
      ? UNREADABLE.exec(text.slice(open, open + LONGEST_NAME))?.[1]?.toLowerCase()
      : undefined;
    if (name === undefined || unclosed.has(name)) continue;
    const end = new RegExp(`</${name}\\s*>`, 'gi');
    end.lastIndex = at;
    if (end.test(text)) at = end.lastIndex;
    else unclosed.add(name);
  }
  return (readable + text.slice(at)).replace(
    /&(?:lt|gt|quot|#39|nbsp|amp);/g,
    (entity) => ENTITIES[entity] ?? ' ',
  );
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
