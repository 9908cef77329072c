import { SUMMARY_HEADINGS } from '../compaction/summary-headings.js';
import { classAt, SPACE } from './char-classes.js';
import type { Draft } from './draft.js';
import { isQuestion } from './question.js';
import type { Vocabulary } from './salience.js';
import { scanWords } from './scan-words.js';

/** A draft with its words counted into the vocabulary. */
export interface MeasuredDraft {
  readonly draft: Draft;
  /** The distinct words, as numbers of the vocabulary. */
  readonly words: readonly number[];
  /** Those of them that look like numbers, identifiers, paths; ascending. */
  readonly marks: readonly number[];
  /** Sum of the signals of its words, 0 and up. */
  readonly signal: number;
  readonly wordCount: number;
  /** Share of the text that is base64 or the like, 0 to 1. */
  readonly blobShare: number;
}

/** A signal of this size or more must be equal for two sentences to be the same. */
const MARK_SIGNAL = 0.7;
/** Words that tools of every language use for failures; an error text is worth keeping. */
const ERROR_WORD = /(?:error|exception|fatal|failed|failure|traceback|panic|errno)$/iu;
const ERROR_SIGNAL = 1.5;
const SIGNAL_FACTOR = 0.7;
/** Room is what is scarce: of two equally good sentences the shorter one wins, within these lengths (chars). */
const MIN_LENGTH = 40;
const USUAL_LENGTH = 80;
const MAX_LENGTH = 280;
const LENGTH_POWER = 0.25;
const NO_INSTRUCTIONS: ReadonlySet<number> = new Set();

/** Words are counted per block of a message of at most about so many chars, so that one long message has shades too. */
const BLOCK_CHARS = 2000;

/** Counts the words of all drafts into the vocabulary; scores are only right once all are counted. */
export function measureDrafts(drafts: readonly Draft[], vocabulary: Vocabulary): MeasuredDraft[] {
  let message: number | null = null;
  let blockChars = 0;
  return drafts.map((draft) => {
    if (draft.message !== message || blockChars > BLOCK_CHARS) {
      vocabulary.beginBlock();
      message = draft.message;
      blockChars = 0;
    }
    blockChars += draft.text.length;
    return measureDraft(draft, vocabulary);
  });
}

function measureDraft(draft: Draft, vocabulary: Vocabulary): MeasuredDraft {
  const words = new Set<number>();
  const marks = new Set<number>();
  let signal = 0;
  let wordCount = 0;
  let blobChars = 0;
  for (const token of scanWords(draft.text)) {
    if (token.isBlob) {
      blobChars += token.text.length;
      continue;
    }
    wordCount += 1;
    const id = vocabulary.idOf(token.text);
    vocabulary.count(id, draft.isTalk);
    if (words.has(id)) continue;
    words.add(id);
    signal += token.signal + (ERROR_WORD.test(token.text) ? ERROR_SIGNAL : 0);
    if (token.signal >= MARK_SIGNAL) marks.add(id);
  }
  return {
    draft,
    words: [...words],
    marks: [...marks].sort((a, b) => a - b),
    signal,
    wordCount,
    blobShare: blobChars / draft.text.length,
  };
}

/** The words of the caller's wishes; a sentence that contains them scores higher. */
export function instructionWords(instructions: string | null, vocabulary: Vocabulary): ReadonlySet<number> {
  if (instructions === null) return NO_INSTRUCTIONS;
  return new Set(scanWords(instructions).map(({ text }) => vocabulary.idOf(text)));
}

/** How much a sentence is worth keeping, 0 and up; comparable within one call only. */
export function scoreDraft(
  measured: MeasuredDraft,
  vocabulary: Vocabulary,
  wished: ReadonlySet<number>,
): number {
  const { draft, words, signal } = measured;
  let salience = 0;
  let wishes = 0;
  for (const id of words) {
    if (draft.isTalk || vocabulary.isInTalk(id)) salience += vocabulary.weight(id);
    if (wished.has(id)) wishes += Math.max(0.2, vocabulary.rarity(id));
  }
  // The root keeps long sentences from winning by length alone, and short ones by a single rare word.
  const worth =
    0.3 +
    salience / Math.sqrt(words.length + 3) +
    SIGNAL_FACTOR * Math.log2(1 + signal) +
    Math.min(2, wishes);
  const length = Math.min(MAX_LENGTH, Math.max(MIN_LENGTH, draft.text.length));
  return worth * draft.weight * formFactor(measured) * (USUAL_LENGTH / length) ** LENGTH_POWER;
}

/** Whether a draft is mostly base64 or the like: told only where there is nothing else to tell. */
export function isBlob({ draft, wordCount, blobShare }: MeasuredDraft): boolean {
  return blobShare > 0.4 || (wordCount > 0 && isOneRun(draft.text) && draft.text.length / wordCount > 60);
}

function formFactor({ draft, wordCount, signal }: MeasuredDraft): number {
  // A lone word or number ("2.", "280}}]") has lost what it is about, unless it is the user's whole answer.
  if (wordCount < 2) return draft.isUsers ? 0.4 : 0.15;
  if (signal >= 0.7) return 1;
  if (wordCount < 4) return draft.isUsers ? 0.4 : 0.15;
  // A short question in the middle ("Does that help?") is politeness, or was answered since.
  const isPastQuestion = draft.heading !== SUMMARY_HEADINGS.openQuestions.heading && isQuestion(draft.text);
  if (wordCount < 7) return isPastQuestion ? 0.25 : 0.6;
  return 1;
}

function isOneRun(text: string): boolean {
  for (let i = 0; i < text.length; i += 1) if (classAt(text, i) === SPACE) return false;
  return true;
}
