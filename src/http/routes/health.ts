import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import { Type } from 'typebox';
import { answer, problems, stringEnum } from '../schemas/common.js';

const tags = ['Health'];

/** For probes: whether the process lives, and whether it can do its work. */
export const healthRoutes: FastifyPluginAsyncTypebox = async (app) => {
  const Status = Type.Object({ status: stringEnum(['ok']) });

  app.get(
    '/livez',
    {
      logLevel: 'warn',
      schema: {
        operationId: 'getLiveness',
        summary: 'Whether the process answers; looks at nothing else',
        tags,
        response: { 200: answer('It does', Status), ...problems([], { body: false }) },
      },
    },
    async () => ({ status: 'ok' as const }),
  );

  app.get(
    '/readyz',
    {
      logLevel: 'warn',
      schema: {
        operationId: 'getReadiness',
        summary: 'Whether the database answers',
        tags,
        response: { 200: answer('It does', Status), ...problems(['STORE_UNAVAILABLE'], { body: false }) },
      },
    },
    async () => {
      await app.services.store.ping();
      return { status: 'ok' as const };
    },
  );
};
