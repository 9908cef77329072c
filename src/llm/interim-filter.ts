import type { Socket } from 'node:net';

/** `100 Continue`, `102 Processing`, `103 Early Hints` and the like, but for `101 Switching Protocols`, as it begins. */
const INTERIM = /^HTTP\/1\.1 1(?!01)\d\d$/;
const EXAMPLE = 'HTTP/1.1 100';
const HEAD_END = '\r\n\r\n';
/** Longest head of an interim answer that is waited for, in bytes. */
const HEAD_LIMIT = 16_384;

/**
 * Takes interim answers out of what a socket brings before an answer. Any server may send them, asked for or not (RFC
 * 9110, 15.2), any number in any order. undici would skip most itself, but ends the connection on a `100 Continue`.
 */
export class InterimFilter {
  #held: Buffer = Buffer.alloc(0);
  #isLooking = false;

  constructor(socket: Socket) {
    const read = socket.read.bind(socket);
    socket.read = (size?: number) => {
      for (;;) {
        const chunk: unknown = read(size);
        if (!this.#isLooking || !(chunk instanceof Buffer)) return chunk;
        const rest = this.#without(chunk);
        // A read that brings nothing asks the socket to tell of more, so that it is read until it has nothing.
        if (rest.length > 0) return rest;
      }
    };
  }

  /** What comes next on the socket is the answer to a request. */
  answerBegins(): void {
    this.#isLooking = true;
    this.#held = Buffer.alloc(0);
  }

  /** The part of the answer in hand that is none of an interim one; empty while that cannot be told. */
  #without(chunk: Buffer): Buffer {
    let bytes = Buffer.concat([this.#held, chunk]);
    this.#held = Buffer.alloc(0);
    while (bytes.length > 0 && isStartOfInterim(bytes)) {
      const end = bytes.indexOf(HEAD_END);
      if (end < 0 && bytes.length <= HEAD_LIMIT) {
        this.#held = bytes;
        return Buffer.alloc(0);
      }
      if (end < 0) break;
      bytes = bytes.subarray(end + HEAD_END.length);
    }
    if (bytes.length > 0) this.#isLooking = false;
    return bytes;
  }
}

function isStartOfInterim(bytes: Buffer): boolean {
  const start = bytes.toString('latin1', 0, EXAMPLE.length);
  if (start.length === EXAMPLE.length) return INTERIM.test(start);
  // Short of its last digit, each may still become one.
  return EXAMPLE.startsWith(start) || /^HTTP\/1\.1 1\d$/.test(start);
}
