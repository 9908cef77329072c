import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import { Type } from 'typebox';
import { answer, problems, ref, SessionParams, stringEnum } from '../schemas/common.js';
import { Context } from '../schemas/message.js';
import { sendJson } from '../send-json.js';
import { TENANT } from '../tenant.js';

const ContextQuery = Type.Object(
  {
    form: Type.Optional(
      stringEnum(['view', 'wire'], {
        default: 'view',
        description: '`view`: the messages as stored; `wire`: a copy with what endpoints refuse repaired',
      }),
    ),
  },
  { additionalProperties: false },
);

/** What to send to a model. */
export const contextRoutes: FastifyPluginAsyncTypebox = async (app) => {
  const { contexts } = app.services;

  app.get(
    '/sessions/:id/context',
    {
      schema: {
        operationId: 'getContext',
        summary: 'Read the context: system messages, the summary, what came after it',
        tags: ['Messages'],
        params: SessionParams,
        querystring: ContextQuery,
        response: {
          200: answer('The context', ref(Context)),
          ...problems(['SESSION_NOT_FOUND'], { body: false }),
        },
      },
    },
    async (request, reply) => {
      const { id } = request.params;
      const wire = request.query.form === 'wire';
      const context = await (wire ? contexts.readForWire(TENANT, id) : contexts.read(TENANT, id));
      const rest = JSON.stringify({
        summary_chars: context.summaryChars,
        tail_count: context.tailCount,
        chars: context.chars,
        estimated_tokens: context.estimatedTokens,
      });
      return sendJson(reply, [
        Buffer.from('{"messages":['),
        ...context.json,
        Buffer.from(`],${rest.slice(1)}`),
      ]);
    },
  );
};
