import { SUMMARY_HEADINGS } from '../compaction/summary-headings.js';
import { cutText } from './cut-text.js';
import { NearDuplicates } from './near-duplicates.js';
import type { Vocabulary } from './salience.js';
import { isBlob, type MeasuredDraft } from './score.js';
import { type Layout, lineCost, type SummaryItem } from './write-summary.js';

/** A measured draft with its score and the line it would write. */
export interface Candidate extends SummaryItem {
  readonly measured: MeasuredDraft;
  readonly score: number;
}

/** The share of the room one section takes while others wait. They add up to more than 1 on purpose. */
const SHARES: ReadonlyMap<string, number> = new Map([
  [SUMMARY_HEADINGS.goal.heading, 0.15],
  [SUMMARY_HEADINGS.constraints.heading, 0.3],
  [SUMMARY_HEADINGS.done.heading, 0.2],
  [SUMMARY_HEADINGS.inProgress.heading, 0.15],
  [SUMMARY_HEADINGS.decisions.heading, 0.2],
  [SUMMARY_HEADINGS.openQuestions.heading, 0.15],
  [SUMMARY_HEADINGS.nextSteps.heading, 0.2],
]);
/** Of each of these the best new line has its place before all else: what it is about, and where it stands. */
const MUSTS = [
  SUMMARY_HEADINGS.goal,
  SUMMARY_HEADINGS.nextSteps,
  SUMMARY_HEADINGS.inProgress,
  SUMMARY_HEADINGS.openQuestions,
];
const TOP_CANDIDATES = 10;
const BLOB_EXCERPT_CHARS = 80;
const CHATTER_SHARE = 0.2;
const OTHER_SHARE = 0.35;

/**
 * Chooses lines until the room (chars) is full: first `kept` as they are (the caller has made sure that they
 * fit), then the best of the goal and of where things stand, then by score with a limit per section and per
 * message, then by score alone. No two lines say the same. Blobs stand in only where there is nothing else.
 */
export function selectCandidates(
  kept: readonly Candidate[],
  ranked: readonly Candidate[],
  room: number,
  layout: Layout,
  vocabulary: Vocabulary,
): Candidate[] {
  const selection = new Selection(room, layout, vocabulary);
  for (const candidate of kept) selection.add(candidate);
  const least = leastScore(ranked);
  const worthwhile = ranked.filter(({ score, measured }) => score >= least && !isBlob(measured));
  for (const { heading } of MUSTS) {
    const best = worthwhile.find((item) => item.heading === heading && item.measured.draft.message >= 0);
    if (best !== undefined) selection.offer(best, false);
  }
  for (const candidate of worthwhile) selection.offer(candidate, true);
  for (const candidate of worthwhile) selection.offer(candidate, false);
  const [blob] = ranked;
  if (selection.chosen.length === 0 && blob !== undefined) {
    selection.offer({ ...blob, text: cutText(blob.text, Math.min(room, BLOB_EXCERPT_CHARS)) }, false);
  }
  return selection.chosen;
}

/** Room alone makes no line worth keeping: what falls far behind the best is chatter. */
function leastScore(ranked: readonly Candidate[]): number {
  const top = ranked.slice(0, TOP_CANDIDATES);
  return (CHATTER_SHARE * top.reduce((sum, { score }) => sum + score, 0)) / Math.max(1, top.length);
}

class Selection {
  readonly chosen: Candidate[] = [];
  readonly #room: number;
  readonly #layout: Layout;
  readonly #duplicates: NearDuplicates;
  readonly #used = new Map<string, number>();
  readonly #perMessage = new Map<number, number>();
  readonly #seen = new Set<Candidate>();
  readonly #texts = new Set<string>();
  /** Chars taken; the last line's newline is not written. */
  #length = -1;

  constructor(room: number, layout: Layout, vocabulary: Vocabulary) {
    this.#room = room;
    this.#layout = layout;
    this.#duplicates = new NearDuplicates(vocabulary);
  }

  /** Takes the candidate if there is room and it says something new. */
  offer(candidate: Candidate, isLimited: boolean): void {
    if (this.#seen.has(candidate) || this.#length + this.#cost(candidate) > this.#room) return;
    if (isLimited ? this.#isOverLimit(candidate) : this.#isBulk(candidate)) return;
    const isRepeated = this.#texts.has(candidate.text) || this.#duplicates.has(candidate.measured);
    if (isRepeated) this.#seen.add(candidate);
    else this.add(candidate);
  }

  add(candidate: Candidate): void {
    const cost = this.#cost(candidate);
    const { message } = candidate.measured.draft;
    this.#seen.add(candidate);
    this.#texts.add(candidate.text);
    this.#duplicates.add(candidate.measured);
    this.#length += cost;
    this.#used.set(candidate.heading, (this.#used.get(candidate.heading) ?? 0) + cost);
    this.#perMessage.set(message, (this.#perMessage.get(message) ?? 0) + 1);
    this.chosen.push(candidate);
  }

  #taken(candidate: Candidate): number {
    return this.#perMessage.get(candidate.measured.draft.message) ?? 0;
  }

  /** However much room there is, the rows of one tool's output do not fill it. */
  #isBulk(candidate: Candidate): boolean {
    const { isTalk, perMessage } = candidate.measured.draft;
    return !isTalk && this.#taken(candidate) >= 2 * perMessage;
  }

  #cost(candidate: Candidate): number {
    return lineCost(candidate, !this.#used.has(candidate.heading), this.#layout);
  }

  #isOverLimit(candidate: Candidate): boolean {
    if (this.#taken(candidate) >= candidate.measured.draft.perMessage) return true;
    const share = SHARES.get(candidate.heading) ?? OTHER_SHARE;
    return (this.#used.get(candidate.heading) ?? 0) + this.#cost(candidate) > share * this.#room;
  }
}
