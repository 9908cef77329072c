import { randomUUID } from 'node:crypto';
import type { Socket } from 'node:net';
import { AppError } from '../../errors.js';
import { problemOf } from '../problem.js';

/** Answers what never became a request: broken HTTP, headers too large, a request sent too slowly. */
export function clientErrorHandler(error: Error & { code?: string }, socket: Socket): void {
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy();
    return;
  }
  const known =
    error.code === 'HPE_HEADER_OVERFLOW'
      ? new AppError('HEADERS_TOO_LARGE', 'The request headers are too large')
      : new AppError('VALIDATION_FAILED', 'The request is not valid HTTP, or was not sent in time');
  const body = JSON.stringify(problemOf(known, randomUUID()));
  socket.end(
    `HTTP/1.1 ${known.status} ${known.status === 431 ? 'Request Header Fields Too Large' : 'Bad Request'}\r\n` +
      `content-type: application/problem+json\r\ncontent-length: ${Buffer.byteLength(body)}\r\n` +
      `connection: close\r\n\r\n${body}`,
  );
}
