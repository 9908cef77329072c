import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import { withEtag } from '../etag.js';
import { NoOptions, NoQuery, problems, ref, SessionParams } from '../schemas/common.js';
import { theSession } from '../schemas/session.js';
import { TENANT } from '../tenant.js';

/** What happens to a session as a whole. None takes a body. */
export const sessionLifecycleRoutes: FastifyPluginAsyncTypebox = async (app) => {
  const { sessions } = app.services;
  const common = {
    tags: ['Sessions'],
    params: SessionParams,
    querystring: NoQuery,
    body: ref(NoOptions),
    response: { 200: theSession, ...problems(['SESSION_NOT_FOUND'], { body: true }) },
  };

  app.post(
    '/sessions/:id/close',
    {
      schema: {
        operationId: 'closeSession',
        summary: 'Close a session',
        description:
          'It takes no messages and no compactions until it is reopened. Closing it again changes nothing.',
        ...common,
      },
    },
    async (request, reply) => withEtag(reply, await sessions.setStatus(TENANT, request.params.id, 'closed')),
  );

  app.post(
    '/sessions/:id/reopen',
    {
      schema: {
        operationId: 'reopenSession',
        summary: 'Reopen a closed session',
        description: 'Reopening an open session changes nothing.',
        ...common,
      },
    },
    async (request, reply) => withEtag(reply, await sessions.setStatus(TENANT, request.params.id, 'open')),
  );

  app.post(
    '/sessions/:id/reset',
    {
      schema: {
        operationId: 'resetSession',
        summary: 'Empty a session',
        description:
          'Deletes its messages, its compactions and its summary, and zeroes its token counts, for good.',
        ...common,
      },
    },
    async (request, reply) => withEtag(reply, await sessions.reset(TENANT, request.params.id)),
  );
};
