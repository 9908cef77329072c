import { SUMMARY_HEADINGS } from '../compaction/summary-headings.js';
import type { Draft } from './draft.js';
import { announces, joinLists } from './join-lists.js';
import type { SpeakerRole, TranscriptMessage } from './parse-transcript.js';
import { isQuestion } from './question.js';
import type { Scene } from './scene.js';
import { type SentencePiece, splitSentences } from './split-sentences.js';

const { goal, constraints, inProgress, openQuestions, nextSteps, facts } = SUMMARY_HEADINGS;

const ROLE_WEIGHTS: Readonly<Record<SpeakerRole, number>> = {
  user: 1.6,
  assistant: 1,
  unknown: 0.8,
  result: 0.45,
  call: 0,
};

/** Beyond this length a message is bulk, and each of its sentences weighs less. */
const BULK_CHARS = { talk: 2000, result: 300 };
const GOAL_FACTOR = 1.5;
const LAST_FACTOR = 1.5;
/** The newest message weighs so much more than the oldest. */
const RECENCY = 0.25;
const CODE_FACTOR = 0.35;
/** "Now I update the tests:" without what follows. */
const ANNOUNCEMENT_FACTOR = 0.4;
const FRAGMENT_FACTOR = 0.7;
/** A question of the assistant in the middle was answered or dropped; the answers are drafted as decisions. */
const PAST_QUESTION_FACTOR = 0.4;
const PER_MESSAGE = { talk: 6, result: 3 };

/**
 * Drafts every sentence of the talk and of tool results, in order; the same sentence said again weighs less
 * each time, unless the user says it: greetings and boilerplate show themselves by repetition, in any language.
 * `taken`: messages already told in another form.
 */
export function draftSentences(
  messages: readonly TranscriptMessage[],
  scene: Scene,
  taken: ReadonlySet<number>,
): Draft[] {
  const drafts: Draft[] = [];
  const indexes = new Map<string, number>();
  messages.forEach((message, index) => {
    if (message.role === 'call' || taken.has(index)) return;
    for (const piece of joinLists(splitSentences(message.text))) {
      const { text } = piece;
      const known = indexes.get(text);
      const before = known === undefined ? undefined : drafts[known];
      if (known !== undefined && before !== undefined) {
        if (!before.isUsers) drafts[known] = { ...before, weight: before.weight * 0.7 };
        continue;
      }
      indexes.set(text, drafts.length);
      drafts.push(draftSentence(piece, message, index, scene));
    }
  });
  return drafts;
}

function draftSentence(piece: SentencePiece, message: TranscriptMessage, index: number, scene: Scene): Draft {
  const isResult = message.role === 'result';
  const asks = !isResult && isQuestion(piece.text);
  const bulk = message.text.length / (isResult ? BULK_CHARS.result : BULK_CHARS.talk);
  let weight = ROLE_WEIGHTS[message.role] * (1 + (RECENCY * (index + 1)) / scene.messageCount);
  if (bulk > 1) weight /= 1 + Math.log10(bulk);
  if (piece.isCode) weight *= CODE_FACTOR;
  if (announces(piece.text)) weight *= ANNOUNCEMENT_FACTOR;
  if (piece.isFragment) weight *= FRAGMENT_FACTOR;
  if (index === scene.goal) weight *= GOAL_FACTOR;
  else if (index === scene.last || index === scene.request) weight *= LAST_FACTOR;
  else if (asks && message.role !== 'user') weight *= PAST_QUESTION_FACTOR;
  return {
    text: piece.text,
    heading: headingOf(message.role, index, asks, scene),
    message: index,
    perMessage: isResult ? PER_MESSAGE.result : PER_MESSAGE.talk,
    weight,
    isTalk: !isResult,
    isUsers: message.role === 'user',
  };
}

/**
 * The section of a sentence, by who said it, where, and whether it asks: no more can be told in every
 * language. What the user said last is still to be done; what the assistant said last is where things stand.
 */
function headingOf(role: SpeakerRole, index: number, asks: boolean, scene: Scene): string {
  if (index === scene.goal) return goal.heading;
  if (index === scene.last && asks) return openQuestions.heading;
  if (role === 'user') return index === scene.last ? nextSteps.heading : constraints.heading;
  return role === 'assistant' && index === scene.last ? inProgress.heading : facts.heading;
}
