import { SUMMARY_HEADINGS } from '../compaction/summary-headings.js';
import type { Draft } from './draft.js';
import { draftCalls } from './draft-calls.js';
import { draftDecisions } from './draft-decisions.js';
import { draftSentences } from './draft-sentences.js';
import type { TranscriptMessage } from './parse-transcript.js';
import { parsePreviousSummary } from './previous-summary.js';
import { readScene } from './scene.js';

export interface CollectedDrafts {
  /** The lines of the previous summary, in its order. */
  readonly carried: readonly Draft[];
  /** What the transcript offers, in its order. */
  readonly fresh: readonly Draft[];
}

/**
 * Where an earlier state goes once a newer one is known. A summary that lists the states of many passes as
 * current misleads; one that drops them loses what was done.
 */
const AFTERWARDS: ReadonlyMap<string, string> = new Map([
  [SUMMARY_HEADINGS.inProgress.heading, SUMMARY_HEADINGS.facts.heading],
  [SUMMARY_HEADINGS.nextSteps.heading, SUMMARY_HEADINGS.constraints.heading],
]);

/** Drafts everything that may become a line: the previous summary's lines, and the transcript's. */
export function collectDrafts(
  previousSummary: string | null,
  messages: readonly TranscriptMessage[],
): CollectedDrafts {
  const carried = previousSummary === null ? [] : parsePreviousSummary(previousSummary);
  const scene = readScene(messages, carried.length === 0);
  const openQuestion = carried.findLast(({ heading }) => heading === SUMMARY_HEADINGS.openQuestions.heading);
  const taken = new Set<number>();
  const decisions = draftDecisions(messages, scene, openQuestion?.text ?? null, taken);
  const isAnswered = decisions.some(({ message }) => message === 0);
  const calls = draftCalls(messages, scene, taken);
  const sentences = draftSentences(messages, scene, taken);
  const fresh = [...decisions, ...calls, ...sentences].sort((a, b) => a.message - b.message);
  const open = isAnswered ? carried.filter((draft) => draft !== openQuestion) : carried;
  return { carried: retireStates(open, fresh), fresh };
}

function retireStates(carried: readonly Draft[], fresh: readonly Draft[]): Draft[] {
  const current = new Set(fresh.map(({ heading }) => heading));
  const isPast = ({ heading }: Draft): boolean => AFTERWARDS.has(heading) && current.has(heading);
  const past = carried
    .filter(isPast)
    .map((draft) => ({ ...draft, heading: AFTERWARDS.get(draft.heading) ?? draft.heading }));
  // Behind the older lines of the section they move to: the order of telling is the order of time.
  return [...carried.filter((draft) => !isPast(draft)), ...past];
}
