export const QUOTE = 0x22;
const BACKSLASH = 0x5c;

/**
 * Index after the closing quote of the JSON string that opens at `open`; the text's end if it never closes.
 * Searches for quotes rather than walking: long texts are skipped at the speed of the engine.
 */
export function stringEnd(text: string, open: number): number {
  for (let quote = text.indexOf('"', open + 1); quote >= 0; quote = text.indexOf('"', quote + 1)) {
    let slashes = 0;
    while (text.charCodeAt(quote - 1 - slashes) === BACKSLASH) slashes += 1;
    if (slashes % 2 === 0) return quote + 1;
  }
  return text.length;
}
