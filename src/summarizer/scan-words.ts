import { classAt, DIGIT, isWordClass, LETTER, SPACE, SPACELESS, SURROGATE, UPPER } from './char-classes.js';

/** One word, or one compound such as `K-114`, `09:40`, `src/app.ts`, as written. */
export interface WordToken {
  readonly text: string;
  /** How much the token looks like something that must not be lost: 0 a plain word, 0.4 a name, 1 and up an identifier, a number, a path. */
  readonly signal: number;
  /** Too long or too random to be a word, a number or a path. */
  readonly isBlob: boolean;
}

const MAX_TOKEN_CHARS = 64;
const MAX_PATH_CHARS = 200;
/** From here on a token that keeps changing between cases and digits is base64 or the like. */
const RANDOM_TOKEN_CHARS = 40;
/** `https://` has three in a row; more than that is a rule or an ellipsis and ends the token. */
const MAX_CONNECTORS = 3;
const CONNECTORS = "_-./\\:@'’";

const segmenter = new Intl.Segmenter('und', { granularity: 'word' });

/**
 * Finds the words of one sentence (a few hundred chars) in one pass. Scripts with spaces are scanned by
 * character class, which is ten times as fast as Intl.Segmenter and keeps compounds whole; the others are
 * segmented by Intl.Segmenter.
 */
export function scanWords(text: string): WordToken[] {
  const tokens: WordToken[] = [];
  let i = 0;
  while (i < text.length) {
    const unitClass = classAt(text, i);
    if (!isWordClass(unitClass)) {
      i += 1;
      continue;
    }
    const end = unitClass === SPACELESS ? runEnd(text, i) : compoundEnd(text, i);
    if (unitClass === SPACELESS) pushSegmented(text.slice(i, end), tokens);
    else tokens.push(judgeToken(text, i, end, tokens.length === 0));
    i = end;
  }
  return tokens;
}

function runEnd(text: string, start: number): number {
  let i = start + 1;
  while (classAt(text, i) === SPACELESS) i += 1;
  return i;
}

function pushSegmented(run: string, tokens: WordToken[]): void {
  for (const { segment } of segmenter.segment(run)) tokens.push({ text: segment, signal: 0, isBlob: false });
}

function isCompoundClass(unitClass: number): boolean {
  return isWordClass(unitClass) && unitClass !== SPACELESS;
}

function compoundEnd(text: string, start: number): number {
  let i = start + 1;
  for (;;) {
    while (isCompoundClass(classAt(text, i))) i += 1;
    let next = i;
    while (next - i < MAX_CONNECTORS && isConnector(text, next)) next += 1;
    if (next === i || !isCompoundClass(classAt(text, next))) return i;
    i = next + 1;
  }
}

function isConnector(text: string, index: number): boolean {
  const char = text.charAt(index);
  if (char === '') return false;
  if (char === ',') return classAt(text, index - 1) === DIGIT && classAt(text, index + 1) === DIGIT;
  return CONNECTORS.includes(char);
}

function judgeToken(text: string, start: number, end: number, isFirst: boolean): WordToken {
  const shape = readShape(text, start, end);
  const length = end - start;
  const isPath = shape.slashes >= 2 || (shape.slashes === 1 && isPathStart(text, start));
  const isRandom = length > RANDOM_TOKEN_CHARS && shape.changes * 4 > length && shape.uppers > 0;
  const isBlob = length > (isPath ? MAX_PATH_CHARS : MAX_TOKEN_CHARS) || isRandom;
  const signal = isBlob ? 0 : signalOf(shape, isPath, isFirst);
  return { text: text.slice(start, end), signal, isBlob };
}

function isPathStart(text: string, start: number): boolean {
  const before = text.charAt(start - 1);
  return before === '/' || before === '~' || before === '.';
}

interface Shape {
  digits: number;
  uppers: number;
  letters: number;
  slashes: number;
  /** An upper case letter right after a lower case one. */
  humps: number;
  /** Any change between lower case, upper case and digits. */
  changes: number;
  /** Dots between words of two letters and more: `main.ts`, not `e.g`. */
  dots: number;
  joints: number;
  startsUpper: boolean;
}

function readShape(text: string, start: number, end: number): Shape {
  const shape: Shape = {
    digits: 0,
    uppers: 0,
    letters: 0,
    slashes: 0,
    humps: 0,
    changes: 0,
    dots: 0,
    joints: 0,
    startsUpper: classAt(text, start) === UPPER,
  };
  let before = SPACE;
  for (let i = start; i < end; i += 1) {
    const unitClass = classAt(text, i);
    if (unitClass === DIGIT) shape.digits += 1;
    else if (unitClass === UPPER) shape.uppers += 1;
    if (unitClass === UPPER || unitClass === LETTER || unitClass === SURROGATE) shape.letters += 1;
    if (unitClass === UPPER && before === LETTER) shape.humps += 1;
    if (unitClass !== before && isWordClass(unitClass) && isWordClass(before)) shape.changes += 1;
    const char = text.charAt(i);
    if (char === '/' || char === '\\') shape.slashes += 1;
    else if (char === '_' || char === '@') shape.joints += 1;
    else if (char === '.' && isWordClass(classAt(text, i - 2)) && isWordClass(classAt(text, i + 2)))
      shape.dots += 1;
    before = unitClass;
  }
  return shape;
}

function signalOf(shape: Shape, isPath: boolean, isFirst: boolean): number {
  if (isPath) return 1.2;
  if (shape.digits > 0 || shape.joints > 0 || shape.humps > 0 || shape.dots > 0) return 1;
  if (shape.letters >= 2 && shape.uppers === shape.letters) return 0.7;
  return shape.startsUpper && !isFirst ? 0.4 : 0;
}
