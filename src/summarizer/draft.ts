import { SUMMARY_HEADINGS } from '../compaction/summary-headings.js';

/** Something that may become one line of the summary, before its words are looked at. */
export interface Draft {
  /** As it stands in its source: white space not yet tidied, not yet cut. */
  readonly text: string;
  /** The section it would stand in: a known heading, or one that the previous summary brought along. */
  readonly heading: string;
  /** Index of its message in the transcript; -1 for a line of the previous summary. */
  readonly message: number;
  /** At most so many lines of one message are taken while others wait, so that none fills the summary alone. */
  readonly perMessage: number;
  /** What role, place and form make of the score: a factor, 0 and up, 1 for a plain sentence of the assistant. */
  readonly weight: number;
  /** Said by user or assistant (true), or a tool's call or output. */
  readonly isTalk: boolean;
  /** The user's own word: dropped as a repetition only if it says exactly the same. */
  readonly isUsers: boolean;
}

/** What a line of the previous summary weighs by its section; a section of its own counts as facts. */
const CARRIED_WEIGHTS: ReadonlyMap<string, number> = new Map([
  [SUMMARY_HEADINGS.goal.heading, 2.4],
  [SUMMARY_HEADINGS.constraints.heading, 1.6],
  [SUMMARY_HEADINGS.decisions.heading, 1.4],
  [SUMMARY_HEADINGS.blocked.heading, 1.2],
  [SUMMARY_HEADINGS.done.heading, 0.8],
  // What was open or under way a pass ago has mostly been overtaken by the new messages.
  [SUMMARY_HEADINGS.inProgress.heading, 0.7],
  [SUMMARY_HEADINGS.openQuestions.heading, 0.7],
  [SUMMARY_HEADINGS.nextSteps.heading, 0.8],
]);

/** Old lines win a draw against new ones: a fact that is lost once is lost for good. */
const CARRIED_BONUS = 1.2;

/** The draft of one line of the previous summary. */
export function draftCarried(text: string, heading: string): Draft {
  const isUsers =
    heading === SUMMARY_HEADINGS.goal.heading || heading === SUMMARY_HEADINGS.constraints.heading;
  const weight = (CARRIED_WEIGHTS.get(heading) ?? 1) * CARRIED_BONUS;
  return { text, heading, message: -1, perMessage: Number.POSITIVE_INFINITY, weight, isTalk: true, isUsers };
}
