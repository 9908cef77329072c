import type { Completion } from '../llm/outcome.js';
import { isPrompt } from './prompt.js';
import { withoutThinking } from './thinking.js';

/**
 * What a reply is worth as a summary. A reply that is not one must never replace history: people lost whole
 * conversations to empty, cut and refused replies that were stored as if they were good.
 */
export type Judgement =
  | { readonly verdict: 'accepted'; readonly summary: string }
  | { readonly verdict: 'empty' }
  | { readonly verdict: 'refused'; readonly reason: string }
  /** Cut off by the output limit; also when the limit left no visible text at all. */
  | { readonly verdict: 'truncated' }
  | { readonly verdict: 'too_long'; readonly chars: number };

/**
 * The longest reply that is looked at as a whole: this many times the longest summary, because of the thinking in it,
 * but within these two, in chars. Cleaning one that is longer would hold up everything else for nothing.
 */
const REPLY_FACTOR = 20;
const REPLY_LIMITS = { least: 500_000, most: 2_000_000 } as const;
const CUT_REASONS = new Set(['length', 'max_tokens', 'model_context_window_exceeded']);

/**
 * @param allows whether a summary is short enough; the limit itself is the caller's
 * @param maxChars the length that was asked for
 */
export function judgeReply(
  reply: Completion,
  allows: (summary: string) => boolean,
  maxChars: number,
): Judgement {
  if (reply.refusal !== null && reply.refusal.trim() !== '')
    return { verdict: 'refused', reason: 'the model refused' };
  if (reply.finishReason === 'content_filter')
    return { verdict: 'refused', reason: 'the content filter stopped it' };
  if (reply.toolCalls.length > 0 || reply.finishReason === 'tool_calls') return { verdict: 'empty' };
  if (reply.finishReason !== null && CUT_REASONS.has(reply.finishReason)) return { verdict: 'truncated' };
  if (reply.text.length > longestReply(maxChars)) {
    return isBlank(reply.text) ? { verdict: 'empty' } : { verdict: 'too_long', chars: reply.text.length };
  }
  const summary = cleanSummary(reply.text);
  if (isBlank(summary) || isPrompt(summary)) return { verdict: 'empty' };
  return allows(summary) ? { verdict: 'accepted', summary } : { verdict: 'too_long', chars: summary.length };
}

function longestReply(maxChars: number): number {
  const { least, most } = REPLY_LIMITS;
  return Math.max(least, Math.min(REPLY_FACTOR * maxChars, most));
}

/** Nothing that a reader would see: white space and invisible format characters only. */
function isBlank(text: string): boolean {
  return !/[^\s\p{Cf}\p{Cc}]/u.test(text);
}

/** The reply without its wrapping: thinking, an enclosing code fence, outer white space, U+0000. */
export function cleanSummary(text: string): string {
  const plain = text.replaceAll('\0', '').toWellFormed();
  return withoutFence(withoutThinking(plain)).trim();
}

/** Removes a code fence that encloses the whole text, closed or not; fences inside the text stay. */
function withoutFence(text: string): string {
  const lines = text.trim().split('\n');
  const marks = /^(`{3,}|~{3,})[\w+#.-]*$/.exec(lines[0]?.trim() ?? '')?.[1];
  if (marks === undefined) return text;
  const closing = enclosingFenceEnd(lines, marks);
  if (closing === null) return text;
  return lines.slice(1, closing).join('\n');
}

/** Line of the fence that closes the first one: the last line, or past it if none does; null if an earlier one. */
function enclosingFenceEnd(lines: readonly string[], marks: string): number | null {
  const fence = marks.startsWith('`') ? /^`{3,}/ : /^~{3,}/;
  let nested = 0;
  for (let i = 1; i < lines.length; i += 1) {
    const line = lines[i]?.trim() ?? '';
    const run = fence.exec(line)?.[0];
    if (run === undefined) continue;
    if (line !== run) nested += 1;
    else if (nested > 0) nested -= 1;
    else if (run.length >= marks.length) return i === lines.length - 1 ? i : null;
  }
  return lines.length;
}
