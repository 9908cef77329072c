import type { Readable } from 'node:stream';
import { type Compression, decompressed } from './compression.js';

/** A connection is only worth keeping when the rest of the answer comes at once, in ms. */
const DRAIN_MS = 250;

const COMPRESSIONS: ReadonlyMap<string, Compression> = new Map([
  ['gzip', 'gzip'],
  ['x-gzip', 'gzip'],
  ['deflate', 'deflate'],
  ['br', 'br'],
]);
/** Codings that change the bytes and cannot be undone here. Other names (`none`, `utf-8`) are written there by mistake. */
const UNREADABLE: readonly string[] = ['zstd', 'compress', 'x-compress', 'dcb', 'dcz', 'exi', 'aes128gcm'];

/**
 * The body as plain bytes. Compression is declined in the request, but some proxies compress anyway. Null for a
 * coding that cannot be undone.
 */
export function plainBody(body: Readable, contentEncoding: string): Readable | null {
  const codings = contentEncoding.split(',').map((coding) => coding.trim().toLowerCase());
  if (codings.some((coding) => UNREADABLE.includes(coding))) return null;
  // In the order in which they were applied.
  return codings.reduceRight<Readable>((encoded, coding) => {
    const compression = COMPRESSIONS.get(coding);
    return compression === undefined ? encoded : decompressed(encoded, compression);
  }, body);
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
