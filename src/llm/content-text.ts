import { isRecord, member } from './narrow.js';

const TEXT_PART_TYPES: readonly unknown[] = ['text', 'output_text', undefined];

export interface ContentText {
  readonly text: string;
  readonly refusal: string;
}

/**
 * The text of a `content` field: a string, a list of parts, one part, or null. Thinking parts and parts of
 * unknown types are not text: reasoning must never end up in an answer.
 */
export function contentText(content: unknown): ContentText {
  if (typeof content === 'string') return { text: content, refusal: '' };
  const parts: readonly unknown[] = Array.isArray(content) ? content : [content];
  return {
    text: parts.map(partText).join(''),
    refusal: parts.map(partRefusal).join(''),
  };
}

function partText(part: unknown): string {
  if (typeof part === 'string') return part;
  if (!isRecord(part) || !TEXT_PART_TYPES.includes(part['type'])) return '';
  const text = part['text'];
  return typeof text === 'string' ? text : '';
}

function partRefusal(part: unknown): string {
  const refusal = member(part, 'type') === 'refusal' ? member(part, 'refusal') : undefined;
  return typeof refusal === 'string' ? refusal : '';
}
