import type { ChatMessage, ContentPart } from '../compaction/measure.js';
import { TextMemo } from './text-memo.js';
import { loadVocabulary } from './vocabulary.js';

/** What a chat template puts around a message: its role and the marks of its start and end. */
export const MESSAGE_TOKENS = 4;
/** What a chat template puts at the end of the list, for the reply to begin. */
export const LIST_TOKENS = 3;
/** What a chat template puts around the name and the arguments of a call. */
export const TOOL_CALL_TOKENS = 6;
/**
 * An image, audio or file, whatever its size: about an image of 1000 x 1000 pixels. Their data is not text to the
 * model, and how endpoints count them differs; what an endpoint reports corrects it.
 */
export const MEDIA_TOKENS = 1_000;

/** Counts are kept for about 16 million chars of text. */
const MEMO_BYTES = 32 * 1024 * 1024;

/** Estimates of what a model reads, in tokens of o200k. Never negative, never NaN. */
export interface TokenEstimator {
  ofText(text: string): number;
  /** A whole list, with what every chat template adds. An empty list has none of that. */
  ofMessages(messages: readonly ChatMessage[]): number;
  /** As JSON text: some endpoints write tools shorter, none much longer. */
  ofTools(tools: readonly object[]): number;
}

/** Takes about 0.2 s the first time in a process, in small steps, and 8 MB from then on. */
export async function createTokenEstimator(): Promise<TokenEstimator> {
  const vocabulary = await loadVocabulary();
  const memo = new TextMemo(MEMO_BYTES);
  const compute = (text: string) => vocabulary.count(text);
  const ofText = (text: string) => memo.count(text, compute);
  const ofMessage = (message: ChatMessage) => messageTokens(message, ofText);
  return {
    ofText,
    ofMessages: (messages) => (messages.length === 0 ? 0 : LIST_TOKENS + sum(messages, ofMessage)),
    ofTools: (tools) => sum(tools, (tool) => ofText(JSON.stringify(tool))),
  };
}

function messageTokens(message: ChatMessage, ofText: (text: string) => number): number {
  const { content, name, refusal } = message;
  let tokens = MESSAGE_TOKENS + ofText(name ?? '') + ofText(refusal ?? '');
  if (typeof content === 'string') tokens += ofText(content);
  else tokens += sum(content ?? [], (part) => partTokens(part, ofText));
  for (const { function: called } of message.tool_calls ?? []) {
    tokens += TOOL_CALL_TOKENS + ofText(called?.name ?? '') + ofText(called?.arguments ?? '');
  }
  return tokens;
}

function partTokens({ text, refusal }: ContentPart, ofText: (text: string) => number): number {
  if (typeof text === 'string') return ofText(text);
  return typeof refusal === 'string' ? ofText(refusal) : MEDIA_TOKENS;
}

function sum<T>(items: readonly T[], tokensOf: (item: T) => number): number {
  return items.reduce((total, item) => total + tokensOf(item), 0);
}
