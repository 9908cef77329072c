import type { FastifyReply } from 'fastify';

/** Sends JSON text that is already written, in pieces, without writing it anew. */
export function sendJson(reply: FastifyReply, pieces: readonly Buffer[]): FastifyReply {
  return reply
    .type('application/json; charset=utf-8')
    .send(pieces.length === 1 ? pieces[0] : Buffer.concat(pieces));
}
