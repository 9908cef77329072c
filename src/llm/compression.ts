import { pipeline, Readable } from 'node:stream';
import {
  createBrotliDecompress,
  createGunzip,
  createInflate,
  createInflateRaw,
  gunzipSync,
  inflateRawSync,
} from 'node:zlib';
import { countOf, member } from './narrow.js';

export type Compression = 'gzip' | 'deflate' | 'br';

/** Beginning of a body that shows what it is, in bytes. */
const HEAD = 8;
/** Of a gzip member: its checksum and length, in bytes. */
const TRAILER = 8;
/** Most of a compressed body that is kept to read it once more, in bytes. */
const KEPT = 4 * 1024 * 1024;
/** Largest content of a body that is read once more, in bytes. */
const REREAD = 32 * 1024 * 1024;
/** Most members of a body that is read once more: each is read at once, and nothing else happens meanwhile. */
const MEMBERS = 1_000;

/**
 * A body as it was before it was compressed; what was not compressed, whatever its headers say, stays as it is.
 * Errors of the body and of the compression end it. Of the compression they have codes that begin with `Z_`.
 */
export function decompressed(body: Readable, compression: Compression): Readable {
  const plain = Readable.from(readCompressed(body, compression), { objectMode: false });
  // Whoever has read enough destroys the body; the error that this makes here is no news to anyone.
  return plain.on('error', () => {});
}

async function* readCompressed(body: Readable, compression: Compression): AsyncGenerator<Uint8Array> {
  const chunks = bytesOf(body);
  let head: Buffer = Buffer.alloc(0);
  while (head.length < HEAD) {
    const { value, done } = await chunks.next();
    if (done === true) break;
    head = Buffer.concat([head, value]);
  }
  const whole = followedBy(head, chunks);
  if (isGzip(head)) yield* gunzipped(whole);
  else if (isReadable(head)) yield* whole;
  else yield* through(whole, decoderFor(compression, head));
}

function decoderFor(compression: Compression, head: Buffer) {
  if (compression === 'br') return createBrotliDecompress();
  // "deflate" means the zlib format, but some servers send the bare one.
  if (compression === 'deflate') return isZlib(head) ? createInflate() : createInflateRaw();
  return createGunzip();
}

/** Text and nothing else: the chance that compressed bytes begin like this is below one in a thousand. */
function isReadable(head: Buffer): boolean {
  return head.every(
    (byte) => (byte >= 0x20 && byte < 0x7f) || byte === 0x0a || byte === 0x0d || byte === 0x09,
  );
}

function isGzip(bytes: Buffer): boolean {
  return bytes[0] === 0x1f && bytes[1] === 0x8b;
}

function isZlib(bytes: Buffer): boolean {
  return bytes.length >= 2 && (bytes.readUInt8(0) & 0x0f) === 8 && bytes.readUInt16BE(0) % 31 === 0;
}

/** What follows the end of the compressed bytes and is none is dropped. zlib takes it for an error, and all with it. */
async function* gunzipped(compressed: AsyncIterable<Buffer>): AsyncGenerator<Uint8Array> {
  const kept: Buffer[] = [];
  let keptBytes = 0;
  let given = 0;
  async function* keeping(): AsyncGenerator<Buffer> {
    for await (const chunk of compressed) {
      keptBytes += chunk.length;
      if (keptBytes <= KEPT) kept.push(chunk);
      yield chunk;
    }
  }
  try {
    for await (const chunk of through(keeping(), createGunzip())) {
      given += chunk.length;
      yield chunk;
    }
  } catch (error) {
    if (keptBytes > KEPT) throw error;
    const members = wholeMembers(Buffer.concat(kept));
    if (members === null) throw error;
    if (members.length > given) yield members.subarray(given);
  }
}

/** The content of all complete gzip members at the start, when the bytes after them begin no other one; else null. */
function wholeMembers(bytes: Buffer): Buffer | null {
  const contents: Buffer[] = [];
  let rest = bytes;
  let room = REREAD;
  while (isGzip(rest)) {
    const first = contents.length < MEMBERS ? firstMember(rest, room) : null;
    if (first === null) return null;
    contents.push(first.content);
    room -= first.content.length;
    rest = rest.subarray(first.length);
  }
  return contents.length === 0 ? null : Buffer.concat(contents);
}

/** Null when its end is missing, its checksum or length is wrong, or it holds more bytes than there is room for. */
function firstMember(
  bytes: Buffer,
  room: number,
): { readonly content: Buffer; readonly length: number } | null {
  const start = headerLength(bytes);
  try {
    // What is read raw tells where it ends; only what is read with its trailer is checked against it.
    const options = { info: true, maxOutputLength: Math.max(room, 1) };
    const read: unknown = inflateRawSync(bytes.subarray(start), options);
    const used = countOf(member(member(read, 'engine'), 'bytesWritten'));
    if (used === null) return null;
    const length = start + used + TRAILER;
    return { content: gunzipSync(bytes.subarray(0, length)), length };
  } catch {
    return null;
  }
}

/** Of a gzip member, in bytes (RFC 1952, 2.3): ten, and what the flags announce. */
function headerLength(bytes: Buffer): number {
  const flags = bytes[3] ?? 0;
  let at = 10;
  if ((flags & 4) !== 0) at += 2 + (bytes.length >= at + 2 ? bytes.readUInt16LE(at) : 0);
  for (const flag of [8, 16]) {
    if ((flags & flag) === 0) continue;
    const end = bytes.indexOf(0, at);
    at = end < 0 ? bytes.length : end + 1;
  }
  return (flags & 2) === 0 ? at : at + 2;
}

async function* through(
  chunks: AsyncIterable<Buffer>,
  decoder: ReturnType<typeof createGunzip>,
): AsyncGenerator<Uint8Array> {
  // The error of either side reaches whoever reads the decoder.
  pipeline(Readable.from(chunks, { objectMode: false }), decoder, () => {});
  yield* bytesOf(decoder);
}

async function* followedBy(head: Buffer, rest: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  if (head.length > 0) yield head;
  yield* rest;
}

async function* bytesOf(stream: Readable): AsyncGenerator<Buffer> {
  for await (const chunk of stream) {
    const bytes: unknown = chunk;
    if (bytes instanceof Uint8Array) yield Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  }
}
