import { createHash } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { FastifyReply } from 'fastify';
import { Type } from 'typebox';
import { fieldError } from '../errors.js';
import type { KeyedRequest, StoredAnswer } from '../idempotency/claims.js';
import { TENANT } from './tenant.js';

/** The Idempotency-Key of a request, and the answers that are kept under it. */

const NAME = 'idempotency-key';
const KEY = /^[\x20-\x7e]{1,255}$/;
const NO_BODY = createHash('sha256').digest('hex');

/** Header of operations that create or run something. Without an example: Swagger UI would send it each time. */
export const IdempotencyKey = Type.Object({
  [NAME]: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 255,
      pattern: '^[ -~]*$',
      description:
        'Of your choice, printable ASCII, new for each request that is not a repetition. For 24 hours the same key ' +
        'with the same path and body does nothing twice and gives the same answer.',
    }),
  ),
});

/** Response header of operations that take a key. */
export const REPLAYED_HEADER = {
  'idempotency-replayed': {
    type: 'string',
    enum: ['true'],
    description: 'The answer was given before, under this Idempotency-Key; nothing was done now',
  },
};

/** What of a request a key stands for. The query is none of it: operations that take keys take no query. */
interface MaybeKeyed {
  readonly method: string;
  readonly params: unknown;
  readonly routeOptions: { readonly url?: string | undefined };
  readonly bodyHash: string | null;
  readonly raw: IncomingMessage;
}

/** The request with its key, if it has one; VALIDATION_FAILED when the key cannot be used. */
export function keyedRequest(request: MaybeKeyed): KeyedRequest | null {
  const { raw, method, params, routeOptions, bodyHash } = request;
  const joined = raw.headers[NAME];
  if (joined === undefined) return null;
  // The parser joins what came twice with a comma, which a key may contain.
  const names = raw.rawHeaders.filter((name, index) => index % 2 === 0 && name.toLowerCase() === NAME);
  if (names.length > 1) throw fieldError('header', `/${NAME}`, 'must be there once');
  const key = String(joined);
  if (!KEY.test(key)) throw fieldError('header', `/${NAME}`, 'must be 1 to 255 printable ASCII characters');
  // Path parameters as they were decoded: the same path is the same request, however it was escaped.
  const asked = JSON.stringify([method, routeOptions.url, params, bodyHash ?? NO_BODY]);
  return { tenant: TENANT, key, fingerprint: createHash('sha256').update(asked).digest('hex') };
}

/** Sends an answer that is kept, as it was written. */
export function sendStored(
  reply: FastifyReply,
  { status, location, body }: StoredAnswer,
  replayed: boolean,
): FastifyReply {
  if (location !== null) reply.header('location', location);
  if (replayed) reply.header('idempotency-replayed', 'true');
  return reply.code(status).type('application/json; charset=utf-8').send(body);
}
