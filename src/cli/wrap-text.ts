/**
 * Breaks text into lines of at most `width` columns between words, and indents each. Line breaks of the text
 * stay, and what follows a bullet is aligned with its text. A word longer than a line is cut.
 *
 * @param width columns, the indent included
 */
export function wrapText(text: string, width: number, indent = ''): string[] {
  return text.split('\n').flatMap((line) => {
    const bullet = /^\s*(?:[-*]\s+)?/.exec(line)?.[0] ?? '';
    return wrapLine(line.slice(bullet.length), indent + bullet, indent + ' '.repeat(bullet.length), width);
  });
}

function wrapLine(text: string, first: string, other: string, width: number): string[] {
  const lines: string[] = [];
  const room = Math.max(10, width - other.length);
  let line = '';
  const end = () => {
    lines.push(((lines.length === 0 ? first : other) + line).trimEnd());
    line = '';
  };
  for (const word of text.split(/\s+/)) {
    for (const piece of cutWord(word, room)) {
      if (line !== '' && line.length + 1 + piece.length > room) end();
      line = line === '' ? piece : `${line} ${piece}`;
    }
  }
  end();
  return lines;
}

/** A word in pieces that fit a line: after a comma where there is one, as in JSON; never inside a character. */
function cutWord(word: string, room: number): string[] {
  const pieces: string[] = [];
  let rest = word;
  while (rest.length > room) {
    const comma = rest.lastIndexOf(',', room - 1);
    let cut = comma > room / 2 ? comma + 1 : room;
    if (/[\ud800-\udbff]/.test(rest.charAt(cut - 1))) cut -= 1;
    pieces.push(rest.slice(0, cut));
    rest = rest.slice(cut);
  }
  return [...pieces, rest];
}
