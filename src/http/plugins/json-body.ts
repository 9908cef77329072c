import { isUtf8 } from 'node:buffer';
import { createHash } from 'node:crypto';
import type { FastifyInstance } from 'fastify';
import fp from 'fastify-plugin';
import { AppError, fieldError } from '../../errors.js';
import { scanBody } from '../../json/scan-body.js';

declare module 'fastify' {
  interface FastifyRequest {
    /** The elements of the body's `messages`, as they were written; empty without such a body. */
    rawMessages: readonly string[];
    /** SHA-256 of the body's bytes, as hex; only of requests with an Idempotency-Key, else null. */
    bodyHash: string | null;
  }
}

/**
 * The only body parser: JSON, and an empty body under any JSON content type, which clients send with every
 * POST. Everything else is 415. Keeps the text of messages, since they are stored word for word, and the hash of
 * bodies that come with a key.
 */
export const jsonBody = fp(
  async (app: FastifyInstance) => {
    app.decorateRequest('rawMessages');
    app.decorateRequest('bodyHash', null);
    app.addHook('onRequest', async (request) => {
      request.rawMessages = [];
    });
    app.removeAllContentTypeParsers();
    app.addContentTypeParser<Buffer>('application/json', { parseAs: 'buffer' }, (request, bytes, done) => {
      const encoding = request.headers['content-encoding'] ?? 'identity';
      if (encoding !== 'identity') {
        return done(new AppError('UNSUPPORTED_MEDIA_TYPE', 'The body must not have a content-encoding'));
      }
      const charset =
        /;\s*charset\s*=\s*"?([^";\s]+)/i.exec(request.headers['content-type'] ?? '')?.[1] ?? 'utf-8';
      if (!/^utf-?8$/i.test(charset)) {
        return done(new AppError('UNSUPPORTED_MEDIA_TYPE', 'The charset of the body must be utf-8'));
      }
      // Decoding would replace what is broken, and the message would no longer be what was sent.
      if (!isUtf8(bytes)) return done(fieldError('body', '', 'is not valid UTF-8'));
      if (request.headers['idempotency-key'] !== undefined) {
        request.bodyHash = createHash('sha256').update(bytes).digest('hex');
      }
      const body = bytes.toString();
      // A byte order mark is no part of JSON, but some clients write one.
      const text = body.charCodeAt(0) === 0xfeff ? body.slice(1) : body;
      if (text.trim() === '') return done(null, undefined);
      const { messages, tooDeepAt } = scanBody(text);
      if (tooDeepAt !== null)
        return done(fieldError('body', tooDeepAt, 'is nested more than 64 levels deep'));
      request.rawMessages = messages;
      try {
        // Plain JSON.parse: a `__proto__` in a message is an own property like any other, kept and never merged.
        const value: unknown = JSON.parse(text);
        return done(null, value);
      } catch (error) {
        return done(
          fieldError('body', '', `is not valid JSON: ${error instanceof Error ? error.message : ''}`),
        );
      }
    });
  },
  { name: 'json-body', fastify: '5.x' },
);
