import { SUMMARY_HEADINGS } from '../compaction/summary-headings.js';
import { hasWord } from './char-classes.js';
import { cutText, squeeze } from './cut-text.js';
import type { Draft } from './draft.js';
import type { TranscriptMessage } from './parse-transcript.js';
import type { Scene } from './scene.js';

const MAX_ARGUMENT_CHARS = 140;
/** A longer result is bulk: its best sentences compete on their own. */
const MAX_RESULT_CHARS = 120;
const CALL_WEIGHT = 0.8;
/** A call whose result is still to come is what is under way. */
const PENDING_WEIGHT = 2;
/** Arguments beyond this many chars are never looked at: only their beginning is written. */
const READ_CHARS = 2000;

/**
 * Drafts what was done: each tool call with its arguments, and with its result where that is short. An error
 * stands behind its call the same way, so that a failed call does not read as a success. A tool that is called
 * all the time (reading files) weighs less per call than one called once. `taken` receives the results that
 * are told this way.
 */
export function draftCalls(
  messages: readonly TranscriptMessage[],
  scene: Scene,
  taken: Set<number>,
): Draft[] {
  const results = pairResults(messages);
  const uses = new Map<string, number>();
  for (const { role, tool } of messages) {
    if (role === 'call' && tool !== null) uses.set(tool, (uses.get(tool) ?? 0) + 1);
  }
  const drafts: Draft[] = [];
  messages.forEach((message, index) => {
    if (message.role !== 'call' || message.tool === null) return;
    const resultIndex = results.get(index);
    const result = resultIndex === undefined ? undefined : messages[resultIndex];
    const outcome = result === undefined ? '' : shortText(result.text, MAX_RESULT_CHARS);
    if (resultIndex !== undefined && outcome !== '') taken.add(resultIndex);
    const call = squeeze(
      `${message.tool} ${cutText(squeeze(message.text.slice(0, READ_CHARS)), MAX_ARGUMENT_CHARS)}`,
    );
    const isPending = result === undefined && index > scene.last;
    const heading = isPending ? SUMMARY_HEADINGS.inProgress : SUMMARY_HEADINGS.done;
    drafts.push({
      text: outcome === '' ? call : `${call} → ${outcome}`,
      heading: heading.heading,
      message: index,
      perMessage: 1,
      weight: isPending ? PENDING_WEIGHT : CALL_WEIGHT / (1 + Math.log2(uses.get(message.tool) ?? 1) / 4),
      isTalk: false,
      isUsers: false,
    });
  });
  return drafts;
}

/** Call index to result index: the oldest waiting call of that name gets the result. */
function pairResults(messages: readonly TranscriptMessage[]): Map<number, number> {
  const waiting = new Map<string, number[]>();
  const pairs = new Map<number, number>();
  messages.forEach(({ role, tool }, index) => {
    if (tool === null) return;
    const calls = waiting.get(tool) ?? [];
    if (role === 'call') {
      calls.push(index);
      waiting.set(tool, calls);
    } else if (role === 'result') {
      const call = calls.shift();
      if (call !== undefined) pairs.set(call, index);
    }
  });
  return pairs;
}

function shortText(text: string, maxChars: number): string {
  if (text.length > 2 * maxChars) return '';
  const short = squeeze(text);
  return short.length <= maxChars && hasWord(short) ? short : '';
}
