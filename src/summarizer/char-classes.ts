/** What a UTF-16 unit is to the word scanner. */
export const OTHER = 0;
export const SPACE = 1;
export const LETTER = 2;
export const UPPER = 3;
export const DIGIT = 4;
/** A letter of a script that writes its words without spaces between them. */
export const SPACELESS = 5;
/** Either half of a surrogate pair: rare letters and emoji. */
export const SURROGATE = 6;

const SPACELESS_SCRIPTS =
  /[\p{scx=Han}\p{scx=Hiragana}\p{scx=Katakana}\p{scx=Thai}\p{scx=Lao}\p{scx=Khmer}\p{scx=Myanmar}]/u;

/** One look-up per unit instead of a regular expression per character: the scanner sees every unit of 1 MB. */
const CLASSES = buildClasses();

/** The class of the UTF-16 unit at `index`; OTHER outside the text. */
export function classAt(text: string, index: number): number {
  return CLASSES[text.charCodeAt(index)] ?? OTHER;
}

/** Whether a unit belongs to a word: a letter, a mark or a digit of any script. */
export function isWordClass(unitClass: number): boolean {
  return unitClass >= LETTER;
}

/** Whether any unit of the text belongs to a word (or an emoji): what has none is decoration. */
export function hasWord(text: string): boolean {
  for (let i = 0; i < text.length; i += 1) if (isWordClass(classAt(text, i))) return true;
  return false;
}

/**
 * The largest cut at or before `index` that parts no surrogate pair. A cut pair is an ill-formed string, which
 * some endpoints refuse.
 */
export function safeCut(text: string, index: number): number {
  const last = text.charCodeAt(index - 1);
  const next = text.charCodeAt(index);
  const parts = last >= 0xd800 && last <= 0xdbff && next >= 0xdc00 && next <= 0xdfff;
  return parts ? index - 1 : index;
}

function buildClasses(): Uint8Array {
  const classes = new Uint8Array(0x10000);
  for (let code = 0; code < 0x10000; code += 1) classes[code] = classify(code);
  return classes;
}

function classify(code: number): number {
  if (code >= 0xd800 && code <= 0xdfff) return SURROGATE;
  // Control characters (terminal colours in tool output) part words like a space and are never written.
  if (code < 0x20 || code === 0x7f) return SPACE;
  const char = String.fromCharCode(code);
  if (/\s/u.test(char)) return SPACE;
  if (!/[\p{L}\p{M}\p{N}]/u.test(char)) return OTHER;
  if (/\p{N}/u.test(char) && !SPACELESS_SCRIPTS.test(char)) return DIGIT;
  if (/\p{Nd}/u.test(char)) return DIGIT;
  if (SPACELESS_SCRIPTS.test(char)) return SPACELESS;
  return /\p{Lu}/u.test(char) ? UPPER : LETTER;
}
