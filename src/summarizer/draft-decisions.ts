import { SUMMARY_HEADINGS } from '../compaction/summary-headings.js';
import { cutText, squeeze } from './cut-text.js';
import type { Draft } from './draft.js';
import { joinLists } from './join-lists.js';
import type { TranscriptMessage } from './parse-transcript.js';
import { stripBullets } from './previous-summary.js';
import { isQuestion } from './question.js';
import { scanWords } from './scan-words.js';
import type { Scene } from './scene.js';
import { splitSentences } from './split-sentences.js';

/** A longer answer speaks for itself. */
const MAX_ANSWER_CHARS = 80;
/** A message this short is told whole; of a longer one its question and its sentence with the most details. */
const MAX_WHOLE_CHARS = 190;
const MAX_SUBJECT_CHARS = 100;
const MAX_QUESTION_CHARS = 80;
const DECISION_WEIGHT = 1.4;
/** The end of a message in which its question is looked for, in sentences. */
const TAIL_SENTENCES = 3;

/**
 * Drafts a question of the assistant together with the short answer of the user that follows it: "yes" alone
 * says nothing in any language. `taken` receives the answers, and
 * the messages that are told whole. `openQuestion`: the question the previous summary
 * ended with; a transcript that begins with a short answer answers it.
 */
export function draftDecisions(
  messages: readonly TranscriptMessage[],
  scene: Scene,
  openQuestion: string | null,
  taken: Set<number>,
): Draft[] {
  const drafts: Draft[] = [];
  messages.forEach(({ role, text }, index) => {
    if (role !== 'user' || index === scene.goal || text.length > MAX_ANSWER_CHARS || text === '') return;
    const before = messages[index - 1];
    const question = index === 0 ? openQuestion : before?.role === 'assistant' ? askedIn(before.text) : null;
    // A counter-question decides nothing.
    if (question === null || isQuestion(text)) return;
    taken.add(index);
    if (before !== undefined && before.text.length <= MAX_WHOLE_CHARS) taken.add(index - 1);
    drafts.push({
      text: `${question} → ${squeeze(text)}`,
      heading: SUMMARY_HEADINGS.decisions.heading,
      message: index,
      perMessage: 1,
      weight: DECISION_WEIGHT,
      isTalk: true,
      isUsers: true,
    });
  });
  return drafts;
}

/** What a message asks at its end, short, with what it asks about; null when it asks nothing there. */
function askedIn(message: string): string | null {
  const sentences = [...joinLists(splitSentences(message))]
    .filter(({ isCode }) => !isCode)
    .map(({ text }) => text);
  const question = sentences.slice(-TAIL_SENTENCES).findLast(isQuestion);
  if (question === undefined) return null;
  if (message.length <= MAX_WHOLE_CHARS) return stripBullets(squeeze(message));
  let subject = '';
  let most = 0;
  sentences.forEach((sentence, index) => {
    if (sentence === question) return;
    const details = scanWords(sentence).reduce((sum, { signal }) => sum + signal, 0);
    // What stands close to the question is more likely what it asks about.
    const worth = details === 0 ? 0 : Math.log2(1 + details) + (2 * index) / sentences.length;
    if (worth <= most) return;
    most = worth;
    subject = sentence;
  });
  const asked = cutText(stripBullets(squeeze(question)), MAX_QUESTION_CHARS);
  return subject === '' ? asked : `${cutText(stripBullets(squeeze(subject)), MAX_SUBJECT_CHARS)} ${asked}`;
}
