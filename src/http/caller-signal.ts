import type { FastifyReply } from 'fastify';
import { AppError } from '../errors.js';

/**
 * A signal that fires when the caller goes away before the answer was sent. It listens on the response: the
 * request of a POST ends as soon as its body was read.
 */
export function callerSignal(reply: FastifyReply): AbortSignal {
  const controller = new AbortController();
  reply.raw.once('close', () => {
    if (reply.raw.writableFinished) return;
    controller.abort(new AppError('REQUEST_CANCELLED', 'The client closed the connection'));
  });
  return controller.signal;
}
