import type { FastifyReply } from 'fastify';
import { AppError } from '../errors.js';

/**
 * A signal that fires when the caller goes away before the answer was sent. It listens on the response: the
 * request of a POST ends as soon as its body was read.
 */
export function callerSignal(reply: FastifyReply): AbortSignal {
  const controller = new AbortController();
  const gone = () => {
    if (reply.raw.writableFinished) return;
    controller.abort(new AppError('REQUEST_CANCELLED', 'The client closed the connection'));
  };
  // It may have gone while the request was read and checked; then nothing more is told.
  if (reply.raw.destroyed) gone();
  else reply.raw.once('close', gone);
  return controller.signal;
}
