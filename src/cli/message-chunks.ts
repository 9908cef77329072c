/** As many messages as one request may carry. */
export const MAX_CHUNK_MESSAGES = 1_000;
/** Bytes of messages per request: well under the default body limit of 16 MiB. */
export const MAX_CHUNK_BYTES = 8 * 1024 * 1024;

/**
 * Splits messages into runs that fit one request each. A message that is larger than a chunk goes alone:
 * whether it is too large is the service's to say.
 *
 * @param firstUsedBytes what the first request carries beside its messages, in bytes
 */
export function chunkMessages(messages: readonly string[], firstUsedBytes: number): string[][] {
  const chunks: string[][] = [];
  let chunk: string[] = [];
  let bytes = firstUsedBytes;
  for (const message of messages) {
    const size = Buffer.byteLength(message) + 1;
    const full = chunk.length === MAX_CHUNK_MESSAGES || bytes + size > MAX_CHUNK_BYTES;
    if (full && chunk.length > 0) {
      chunks.push(chunk);
      chunk = [];
      bytes = 0;
    }
    chunk.push(message);
    bytes += size;
  }
  if (chunk.length > 0) chunks.push(chunk);
  return chunks;
}
