import type { Socket } from 'node:net';

const CONTINUE = Buffer.from('HTTP/1.1 100');
const HEAD_END = '\r\n\r\n';
/** Longest head of a `100 Continue` that is waited for, in bytes. */
const HEAD_LIMIT = 16_384;

/**
 * Takes `100 Continue` out of what a socket brings before an answer. Any server may send it, asked for or not (RFC
 * 9110, 15.2), and some proxies do, but undici ends the connection on it; other interim answers it skips itself.
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
    while (bytes.length > 0 && isStartOfContinue(bytes)) {
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

function isStartOfContinue(bytes: Buffer): boolean {
  const length = Math.min(bytes.length, CONTINUE.length);
  return bytes.subarray(0, length).equals(CONTINUE.subarray(0, length));
}
