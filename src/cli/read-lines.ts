/** Longest line that is read, in bytes. Its text must fit one string, its request several times in memory. */
const MAX_LINE_BYTES = 256 * 1024 * 1024;
const LINE_FEED = 0x0a;

export interface Line {
  /** From 1; blank lines count. */
  readonly number: number;
  /** Without line end and byte order mark; null when the line cannot be read. */
  readonly text: string | null;
  /** Why `text` is null, otherwise null. */
  readonly problem: string | null;
}

/**
 * The lines of a stream of bytes, one at a time, so that a file of any size needs the memory of its longest
 * line. Bytes that are not UTF-8 are a problem of their line: replacing them would change what was said.
 */
export async function* readLines(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Line> {
  const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
  let pieces: Uint8Array[] = [];
  let bytes = 0;
  let number = 0;

  const keep = (piece: Uint8Array) => {
    bytes += piece.length;
    if (bytes > MAX_LINE_BYTES) pieces = [];
    else pieces.push(piece);
  };
  const finish = (): Line => {
    number += 1;
    const tooLong = bytes > MAX_LINE_BYTES;
    const line = Buffer.concat(pieces);
    pieces = [];
    bytes = 0;
    if (tooLong) return { number, text: null, problem: `is longer than ${MAX_LINE_BYTES / 1024 ** 2} MiB` };
    try {
      const text = decoder.decode(line);
      const marked = number === 1 && text.charCodeAt(0) === 0xfeff;
      return {
        number,
        text: text.slice(marked ? 1 : 0, text.endsWith('\r') ? -1 : undefined),
        problem: null,
      };
    } catch {
      return { number, text: null, problem: 'is not UTF-8 text' };
    }
  };

  for await (const chunk of chunks) {
    let start = 0;
    for (let end = chunk.indexOf(LINE_FEED); end >= 0; end = chunk.indexOf(LINE_FEED, start)) {
      keep(chunk.subarray(start, end));
      yield finish();
      start = end + 1;
    }
    if (start < chunk.length) keep(chunk.subarray(start));
  }
  if (bytes > 0) yield finish();
}
