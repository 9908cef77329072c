import type { FastifyReply } from 'fastify';
import { Type } from 'typebox';
import type { SessionRow } from '../db/tables.js';
import { AppError } from '../errors.js';
import { presentSession } from './present.js';

/** Header of operations that can be made to depend on the version the caller saw. */
export const IfMatch = Type.Object({
  'if-match': Type.Optional(
    Type.String({ description: 'Only if the session is at this version: its ETag, or *' }),
  ),
});

/** The version that If-Match names; null when any will do. */
export function ifVersion(request: { readonly headers: { readonly 'if-match'?: string } }): number | null {
  const header = request.headers['if-match'];
  if (header === undefined || header.trim() === '*') return null;
  const version = /^\s*(?:W\/)?"(\d{1,15})"\s*$/.exec(header)?.[1];
  // A tag that was never given out cannot be the current one.
  if (version === undefined)
    throw new AppError('PRECONDITION_FAILED', 'If-Match is not an ETag of this session');
  return Number(version);
}

export function withEtag(reply: FastifyReply, session: SessionRow) {
  reply.header('etag', `"${session.version}"`);
  return presentSession(session);
}
