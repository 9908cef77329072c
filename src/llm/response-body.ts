import { pipeline, type Readable } from 'node:stream';
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib';

/** A connection is only worth keeping when the rest of the answer comes at once, in ms. */
const DRAIN_MS = 250;

/**
 * The body as plain bytes. Compression is declined in the request, but some proxies compress anyway. Null for a
 * coding that cannot be undone.
 */
export function plainBody(body: Readable, contentEncoding: string): Readable | null {
  const coding = contentEncoding.trim().toLowerCase();
  if (coding === '' || coding === 'identity') return body;
  const decoder = decoderOf(coding);
  if (decoder === null) return null;
  // The error of either side reaches whoever reads the decoder.
  pipeline(body, decoder, () => {});
  return decoder;
}

function decoderOf(coding: string) {
  if (coding === 'gzip' || coding === 'x-gzip') return createGunzip();
  if (coding === 'deflate') return createInflate();
  return coding === 'br' ? createBrotliDecompress() : null;
}

/**
 * Lets go of a body whose reply is complete. The few bytes that end it are read so that the connection can be
 * used again; a server that keeps the stream open after the end marker loses it.
 */
export function releaseBody(body: Readable): void {
  if (body.destroyed || body.readableEnded) return;
  const timer = setTimeout(() => body.destroy(), DRAIN_MS);
  body.once('close', () => clearTimeout(timer));
  body.resume();
}

/** The chunks of a body. Leaving the loop early leaves the body open: releasing or destroying it is up to the caller. */
export async function* chunksOf(body: Readable): AsyncGenerator<Uint8Array> {
  for await (const chunk of body.iterator({ destroyOnReturn: false })) {
    const bytes: unknown = chunk;
    if (bytes instanceof Uint8Array) yield bytes;
  }
}
