import type { FastifyReply } from 'fastify';

/** From this size on, in bytes, copying the pieces together costs more than sending them one by one. */
const PIECES_FROM = 256 * 1024;

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
  // Corked, so that the pieces leave in few system calls.
  raw.cork();
  for (const piece of pieces) raw.write(piece);
  raw.end();
  raw.uncork();
  return reply;
}
