import type { ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { FastifyReply } from 'fastify';

/** From this size on, in bytes, copying the pieces together costs more than sending them one by one. */
const PIECES_FROM = 256 * 1024;
/** Handed to the socket at once, in bytes: more would hold the event loop while the kernel copies it. */
const BURST = 8 * 1024 * 1024;

/**
 * Sends JSON text that is already written, in pieces, without writing it anew. Large answers go to the socket
 * piece by piece, past Fastify: a context can have many megabytes, and a copy of it would block the event loop.
 */
export function sendJson(reply: FastifyReply, pieces: readonly Buffer[]): FastifyReply {
  reply.type('application/json; charset=utf-8');
  const bytes = pieces.reduce((sum, piece) => sum + piece.length, 0);
  if (bytes < PIECES_FROM) return reply.send(Buffer.concat(pieces));
  reply.hijack();
  const { raw } = reply;
  for (const [name, value] of Object.entries(reply.getHeaders())) {
    if (value !== undefined) raw.setHeader(name, value);
  }
  raw.setHeader('content-length', bytes);
  raw.statusCode = reply.statusCode;
  void writeAll(raw, pieces);
  return reply;
}

/** Writes in bursts, as fast as the client takes them; a client that goes away ends it. Never rejects. */
async function writeAll(raw: ServerResponse, pieces: readonly Buffer[]): Promise<void> {
  for (let next = 0; next < pieces.length && !raw.destroyed; ) {
    // Corked, so that a burst leaves in few system calls.
    raw.cork();
    for (let burst = 0; next < pieces.length && burst < BURST; next += 1) {
      const piece = pieces[next];
      if (piece === undefined) break;
      burst += piece.length;
      raw.write(piece);
    }
    raw.uncork();
    // A request injected without a socket takes everything and never says that it has drained.
    const waits = raw.writableNeedDrain && raw.socket instanceof Socket;
    await (waits ? drained(raw) : nextTurn());
  }
  raw.end();
}

function drained(raw: ServerResponse): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      raw.off('drain', done);
      raw.off('close', done);
      resolve();
    };
    raw.on('drain', done);
    raw.on('close', done);
  });
}
