import type { FastifyReply } from 'fastify';
import { Type } from 'typebox';
import type { SessionRow } from '../db/tables.js';
import { presentSession } from './present.js';

/** Header of operations that can be made to depend on the version the caller saw. */
export const IfMatch = Type.Object({
  'if-match': Type.Optional(
    Type.String({ description: 'Only if the session is at this version: its ETag, or *' }),
  ),
});

/** The versions that If-Match names, one of which must be the session's; null when any will do. */
export function ifVersions(request: {
  readonly headers: { readonly 'if-match'?: string };
}): readonly number[] | null {
  const header = request.headers['if-match'];
  if (header === undefined || header.trim() === '*') return null;
  // A tag that was never given out is none of them, and cannot be the current one.
  return [...header.matchAll(/(?:^|,)\s*(?:W\/)?"(\d{1,15})"\s*(?=,|$)/g)].map(([, version]) =>
    Number(version),
  );
}

export function withEtag(reply: FastifyReply, session: SessionRow) {
  reply.header('etag', `"${session.version}"`);
  return presentSession(session);
}
