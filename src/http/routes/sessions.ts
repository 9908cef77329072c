import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import { Type } from 'typebox';
import { decodeKeyCursor, keyPage } from '../cursor.js';
import { IfMatch, ifVersions, withEtag } from '../etag.js';
import { IdempotencyKey, keyedRequest, REPLAYED_HEADER, sendStored } from '../idempotency.js';
import { checkedPercent, incomingMessages, metadataJson } from '../incoming.js';
import { presentSession } from '../present.js';
import {
  answer,
  Cursor,
  Limit,
  NoQuery,
  problems,
  ref,
  SessionParams,
  stringEnum,
} from '../schemas/common.js';
import { CreateSession, SessionPage, theSession, UpdateSession } from '../schemas/session.js';
import { TENANT } from '../tenant.js';

const tags = ['Sessions'];
/** Sessions: create, read, list, change, close, reset, delete. */
export const sessionRoutes: FastifyPluginAsyncTypebox = async (app) => {
  const { sessions } = app.services;

  app.post(
    '/sessions',
    {
      schema: {
        operationId: 'createSession',
        summary: 'Create a session',
        tags,
        headers: IdempotencyKey,
        querystring: NoQuery,
        body: ref(CreateSession),
        response: {
          201: { ...theSession, headers: { ...theSession.headers, ...REPLAYED_HEADER } },
          ...problems(['SESSION_EXISTS', 'AGENT_NOT_FOUND'], { body: true, key: true }),
        },
      },
    },
    async (request, reply) => {
      const { id, agent, title, compactCount, metadata, messages } = request.body ?? {};
      const wanted = {
        id: id ?? null,
        agent: agent?.toWellFormed() ?? null,
        title: title?.toWellFormed() ?? null,
        compactCount: checkedPercent(compactCount),
        metadata: metadataJson(metadata),
        messages: incomingMessages(messages ?? [], request.rawMessages),
      };
      const key = keyedRequest(request);
      if (key === null) {
        const session = await sessions.create(TENANT, wanted);
        reply.code(201).header('location', `/sessions/${session.id}`);
        return withEtag(reply, session);
      }
      const { answer, replayed } = await sessions.createOnce(TENANT, wanted, {
        request: key,
        answer: (session) => ({
          status: 201,
          location: `/sessions/${session.id}`,
          body: JSON.stringify(presentSession(session)),
        }),
      });
      // Of the session as it was answered; it may have moved on since.
      const { version }: { version: number } = JSON.parse(answer.body);
      return sendStored(reply.header('etag', `"${version}"`), answer, replayed);
    },
  );

  app.get(
    '/sessions',
    {
      schema: {
        operationId: 'listSessions',
        summary: 'List sessions, newest first',
        tags,
        querystring: Type.Object(
          {
            agent: Type.Optional(Type.String({ minLength: 1, maxLength: 128 })),
            status: Type.Optional(stringEnum(['open', 'closed'])),
            cursor: Type.Optional(Cursor),
            limit: Type.Optional(Limit),
          },
          { additionalProperties: false },
        ),
        response: { 200: answer('A page of sessions', ref(SessionPage)), ...problems([], { body: false }) },
      },
    },
    async (request) => {
      const { agent, status, cursor, limit = 50 } = request.query;
      const rows = await sessions.list({ tenant: TENANT, agent, status }, decodeKeyCursor(cursor), limit + 1);
      return keyPage(rows, limit, presentSession);
    },
  );

  app.get(
    '/sessions/:id',
    {
      schema: {
        operationId: 'getSession',
        summary: 'Read a session',
        tags,
        params: SessionParams,
        querystring: NoQuery,
        response: { 200: theSession, ...problems(['SESSION_NOT_FOUND'], { body: false }) },
      },
    },
    async (request, reply) => withEtag(reply, await sessions.get(TENANT, request.params.id)),
  );

  app.patch(
    '/sessions/:id',
    {
      schema: {
        operationId: 'updateSession',
        summary: 'Change title or metadata',
        tags,
        params: SessionParams,
        headers: IfMatch,
        querystring: NoQuery,
        body: ref(UpdateSession),
        response: {
          200: theSession,
          ...problems(['SESSION_NOT_FOUND', 'PRECONDITION_FAILED'], { body: true }),
        },
      },
    },
    async (request, reply) => {
      const { title, metadata } = request.body;
      const fields = {
        ...(title === undefined ? {} : { title: title?.toWellFormed() ?? null }),
        ...(metadata === undefined ? {} : { metadata: metadataJson(metadata) }),
      };
      return withEtag(reply, await sessions.update(TENANT, request.params.id, fields, ifVersions(request)));
    },
  );

  app.delete(
    '/sessions/:id',
    {
      schema: {
        operationId: 'deleteSession',
        summary: 'Delete a session with all that belongs to it',
        tags,
        params: SessionParams,
        headers: IfMatch,
        querystring: NoQuery,
        response: {
          204: { description: 'It is gone', type: 'null' },
          ...problems(['SESSION_NOT_FOUND', 'PRECONDITION_FAILED'], { body: false }),
        },
      },
    },
    async (request, reply) => {
      await sessions.remove(TENANT, request.params.id, ifVersions(request));
      return reply.code(204).send(null);
    },
  );
};
