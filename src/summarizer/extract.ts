import type { SummaryRequest } from '../compaction/summarizer.js';
import { collectDrafts } from './collect-drafts.js';
import { cutText, squeeze } from './cut-text.js';
import type { Draft } from './draft.js';
import { parseTranscript, type TranscriptMessage } from './parse-transcript.js';
import { rankBest } from './rank.js';
import { Vocabulary } from './salience.js';
import { instructionWords, measureDrafts, scoreDraft } from './score.js';
import { type Candidate, selectCandidates } from './select.js';
import { type Layout, layoutFor, lineCost, writeSummary } from './write-summary.js';

/** The part of a summary request that the extraction looks at. */
export type ExtractRequest = Pick<
  SummaryRequest,
  'previousSummary' | 'transcript' | 'instructions' | 'maxChars'
>;

/** The new part of a summary is aimed at this share of what was said, and of what tools took and gave. */
const TALK_SHARE = 1 / 4;
const TOOL_SHARE = 1 / 12;
/** A short conversation is told more fully: a third of it, up to so many chars. */
const SHORT_TARGET_CHARS = 2000;
const MIN_TARGET_CHARS = 800;
/** New text may claim this share of the limit before old lines have to compete with it. */
const NEW_SHARE = 1 / 4;
const MAX_LINE_CHARS = 280;
const MIN_LINE_CHARS = 40;

/**
 * Folds a transcript into a summary by choosing sentences, word for word; the same request gives the same
 * bytes. The result is at most `maxChars` UTF-16 units (1 and up), and not blank unless transcript and previous
 * summary both are. It aims at the previous lines plus about a quarter of what was said, at least 800 chars: an
 * extract that always fills its limit would keep chatter for want of anything better. As long as the limit
 * allows, all previous lines stay; after that the weakest lines fall, old or new.
 */
export function extractSummary(request: ExtractRequest): string {
  const maxChars = Math.max(1, Math.floor(request.maxChars));
  const layout = layoutFor(maxChars);
  const messages = parseTranscript(request.transcript);
  const { carried, fresh } = collectDrafts(request.previousSummary, messages);

  const carriedCost = costOf(carried, layout);
  const wanted = wantedChars(messages);
  const room = Math.min(maxChars, Math.max(MIN_TARGET_CHARS, carriedCost + wanted));
  const keepsAll = carriedCost + Math.min(wanted, Math.floor(maxChars * NEW_SHARE)) <= room;

  const vocabulary = new Vocabulary();
  const measured = measureDrafts([...carried, ...fresh], vocabulary);
  const wished = instructionWords(request.instructions, vocabulary);
  const scores = measured.map((item) => scoreDraft(item, vocabulary, wished));
  const candidate = (index: number, maxLineChars: number): Candidate[] => {
    const item = measured[index];
    const score = scores[index];
    if (item === undefined || score === undefined) return [];
    const text = cutText(squeeze(item.draft.text), maxLineChars);
    return [{ measured: item, score, heading: item.draft.heading, text, order: index }];
  };
  const kept = keepsAll ? carried.flatMap((_, index) => candidate(index, Number.POSITIVE_INFINITY)) : [];
  const ranked = rankBest(scores, kept.length, room).flatMap((index) =>
    candidate(index, lineLimit(room, layout)),
  );
  const chosen = selectCandidates(kept, ranked, room, layout, vocabulary);
  return chosen.length > 0 ? writeSummary(chosen, layout) : lastResort(request, messages, maxChars);
}

function wantedChars(messages: readonly TranscriptMessage[]): number {
  let wanted = 0;
  let chars = 0;
  for (const { role, text } of messages) {
    chars += text.length;
    wanted += text.length * (role === 'call' || role === 'result' ? TOOL_SHARE : TALK_SHARE);
  }
  return Math.ceil(Math.max(wanted, Math.min(SHORT_TARGET_CHARS, chars / 3)));
}

function costOf(drafts: readonly Draft[], layout: Layout): number {
  const seen = new Set<string>();
  let cost = 0;
  for (const draft of drafts) {
    cost += lineCost(draft, !seen.has(draft.heading), layout);
    seen.add(draft.heading);
  }
  return cost;
}

/** In a small room a line gets a third of it, so that one long sentence does not take it all. */
function lineLimit(room: number, layout: Layout): number {
  if (layout === 'plain') return room;
  return Math.min(MAX_LINE_CHARS, Math.max(MIN_LINE_CHARS, Math.floor(room / 3)));
}

/**
 * For a transcript without a single sentence (an emoji, a marker, a blob): its beginning. A blank summary would
 * fail the whole compaction.
 */
function lastResort(
  request: ExtractRequest,
  messages: readonly TranscriptMessage[],
  maxChars: number,
): string {
  const first = messages.find(({ text }) => text !== '')?.text;
  const source = [first ?? '', request.transcript, request.previousSummary ?? ''].find(
    (text) => text.trim() !== '',
  );
  return cutText((source ?? '').trim(), Math.min(maxChars, MAX_LINE_CHARS));
}
