import { type Judgement, judgeReply } from '../compaction/accept.js';
import { fitsWindow, summaryLimit } from '../compaction/budget.js';
import type { ChatMessage } from '../compaction/measure.js';
import type { Summarizer } from '../compaction/summarizer.js';
import { renderMessage } from '../compaction/transcript.js';
import type { CallResult } from '../llm/outcome.js';

/** Found in no other text: a summary that keeps it was made of this conversation, word for word. */
export const KEPT_WORD = 'HB-20417';

const CONVERSATION: readonly ChatMessage[] = [
  {
    role: 'user',
    content:
      'Please book a table for four at the Hafenblick in Kiel, on 12 June at 19:00, in the name of Berg. ' +
      'One of us eats no fish.',
  },
  {
    role: 'assistant',
    content: `Done: a table for four at the Hafenblick, 12 June, 19:00, confirmation ${KEPT_WORD}. The kitchen knows about the fish.`,
  },
];

/** A summary call, and what the service would make of its reply; null when there was none to judge. */
export interface SummaryAnswer {
  readonly result: CallResult;
  readonly judgement: Judgement | null;
}

/**
 * Asks for a summary of two messages, and judges the reply by the rules of every compaction.
 *
 * @param summaryMaxChars the configured longest summary, in chars
 */
export async function askSummary(
  summarizer: Summarizer,
  summaryMaxChars: number,
  signal: AbortSignal,
): Promise<SummaryAnswer> {
  const transcript = CONVERSATION.map((message) =>
    renderMessage(message, new Map(), { toolResultChars: 1_000 }),
  ).join('\n\n');
  const { budget } = summarizer;
  const maxChars = summaryLimit(transcript.length, summaryMaxChars, budget);
  const result = await summarizer.summarize({
    previousSummary: null,
    transcript,
    instructions: null,
    maxChars,
    lastReplyChars: null,
    maxOutputTokens: null,
    signal,
  });
  const { outcome } = result;
  if (outcome.kind !== 'ok') return { result, judgement: null };
  const allows = (summary: string) => summary.length <= maxChars && fitsWindow(summary, budget);
  return { result, judgement: judgeReply(outcome, allows, maxChars) };
}
