import { STATUS_CODES } from 'node:http';
import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import fp from 'fastify-plugin';
import { AppError, type ErrorCode } from '../../errors.js';
import { problemOf } from '../problem.js';
import { fieldErrors } from './field-errors.js';

/** Errors that Fastify itself raises before or around a handler, and what they are here. */
const FRAMEWORK_CODES: Readonly<Record<string, ErrorCode>> = {
  FST_ERR_CTP_BODY_TOO_LARGE: 'PAYLOAD_TOO_LARGE',
  FST_ERR_CTP_INVALID_MEDIA_TYPE: 'UNSUPPORTED_MEDIA_TYPE',
  FST_ERR_CTP_EMPTY_TYPE: 'UNSUPPORTED_MEDIA_TYPE',
  FST_ERR_MAX_PARAM_LENGTH: 'URI_TOO_LONG',
};

/** Turns every error into problem details (RFC 9457), and logs those that are ours. */
export const problemDetails = fp(
  async (app: FastifyInstance) => {
    app.setErrorHandler((error: FastifyError | AppError, request, reply) =>
      sendProblem(error, request, reply),
    );
    app.setNotFoundHandler((request, reply) =>
      sendProblem(
        new AppError('ROUTE_NOT_FOUND', `There is no ${request.method} ${pathOf(request)}`),
        request,
        reply,
      ),
    );
  },
  { name: 'problem-details', fastify: '5.x' },
);

/** Also for `frameworkErrors`: a malformed URL never reaches the error handler. */
export function sendProblem(error: unknown, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const known = toAppError(error);
  if (known.status >= 500) request.log.error({ err: error, code: known.code }, 'request failed');
  else request.log.info({ code: known.code, fields: fieldsOf(known) }, 'request refused');
  // The framework would cut the connection while the client still sends, and the answer would be lost with it.
  if (known.code === 'PAYLOAD_TOO_LARGE') reply.removeHeader('connection');
  const { retryAfterSeconds } = known.options;
  if (retryAfterSeconds !== undefined) reply.header('retry-after', String(retryAfterSeconds));
  // Client libraries retry every 409 unless told otherwise.
  if (known.status === 409) reply.header('x-should-retry', String(known.retryable));
  return reply.code(known.status).type('application/problem+json').send(problemOf(known, request.id));
}

export function toAppError(error: unknown): AppError {
  if (error instanceof AppError) return error;
  if (isFastifyError(error)) {
    if (error.validation !== undefined) {
      const errors = fieldErrors(error);
      const detail = errors.map((e) => `${e.in}${e.pointer} ${e.message}`).join('; ');
      return new AppError('VALIDATION_FAILED', detail, { errors, cause: error });
    }
    const code = FRAMEWORK_CODES[error.code] ?? byStatus(error.statusCode);
    if (code === 'VALIDATION_FAILED') return invalid(error);
    if (code !== undefined) return new AppError(code, plain(error), { cause: error });
  }
  // Whatever it is, its text may hold things that are nobody's business.
  return new AppError('INTERNAL_ERROR', 'The request failed because of a fault in the service', {
    cause: error,
  });
}

/** Requests that are broken before any field can be looked at, such as by their URL. */
function invalid(error: FastifyError): AppError {
  const where = error.code === 'FST_ERR_BAD_URL' ? 'path' : 'body';
  return new AppError('VALIDATION_FAILED', error.message, {
    errors: [{ in: where, pointer: '', message: error.message }],
    cause: error,
  });
}

function byStatus(status: number | undefined): ErrorCode | undefined {
  if (status === undefined || status >= 500 || status < 400) return undefined;
  return status === 413
    ? 'PAYLOAD_TOO_LARGE'
    : status === 415
      ? 'UNSUPPORTED_MEDIA_TYPE'
      : 'VALIDATION_FAILED';
}

function plain(error: FastifyError): string {
  if (error.code === 'FST_ERR_CTP_INVALID_MEDIA_TYPE') return 'The body must be application/json';
  return error.message || (STATUS_CODES[error.statusCode ?? 400] ?? 'The request is not valid');
}

/** For the log: where a request was wrong. What is wrong there may quote the body. */
function fieldsOf(error: AppError): string[] | undefined {
  return error.options.errors?.map((field) => field.in + field.pointer);
}

function isFastifyError(error: unknown): error is FastifyError {
  return error instanceof Error && ('code' in error || 'validation' in error || 'statusCode' in error);
}

function pathOf(request: FastifyRequest): string {
  return (request.url.split('?')[0] ?? '').slice(0, 200);
}
