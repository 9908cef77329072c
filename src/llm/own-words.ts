/** Longest part of a message that is looked at, in UTF-16 units. */
const LONGEST = 2_000;
/** Between quotation marks; without one at the end, the rest. A word in quotes is a name of something. */
const QUOTED =
  /"[^"]*(?:"|$)|\u201c[^\u201d]*(?:\u201d|$)|\u00ab[^\u00bb]*(?:\u00bb|$)|(?<![\w])'[^\n]*?(?:'(?!\w)|$)|`[^`]*(?:`|$)/gu;
/** What a Python client shows of another server's error: `Error code: 400 - {'error': {'message': "..."}}`. */
const MESSAGE_BEFORE = /\bmessage['"]?\s*:\s*$/i;
/** How a turn of a conversation begins. */
const TURN = /(?:^|[\s{[('"])(?:user|human|assistant|content)['"]?\s*[:=]/i;

/**
 * The words of an error message that are the server's own, as far as can be told: without sentences in quotation marks,
 * and without a conversation that follows.
 */
export function ownWords(text: string): string {
  const start = text.slice(0, LONGEST);
  const unquoted = start.replace(QUOTED, (quoted, offset: number) =>
    /\s/.test(quoted) && !MESSAGE_BEFORE.test(start.slice(0, offset)) ? '""' : quoted,
  );
  const turn = TURN.exec(unquoted);
  return turn === null ? unquoted : unquoted.slice(0, turn.index);
}
