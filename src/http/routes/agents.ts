import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import { Type } from 'typebox';
import type { Agent } from '../../agents/agent-service.js';
import { withName } from '../../agents/definition.js';
import { fieldError } from '../../errors.js';
import { decodeKeyCursor, keyPage } from '../cursor.js';
import { iso } from '../present.js';
import { AgentDefinition, AgentPage, AgentParams, theAgent } from '../schemas/agent.js';
import { answer, Cursor, Limit, NoQuery, problems, ref } from '../schemas/common.js';
import { TENANT } from '../tenant.js';

const tags = ['Agents'];
/** Agents: define, list, read, delete. What they do is in the routes of chat, tasks and ticks. */
export const agentRoutes: FastifyPluginAsyncTypebox = async (app) => {
  const { agents } = app.services;

  app.put(
    '/agents/:name',
    {
      schema: {
        operationId: 'putAgent',
        summary: 'Define an agent, new or again',
        tags,
        params: AgentParams,
        querystring: NoQuery,
        body: ref(AgentDefinition),
        response: {
          200: theAgent('It was there, and is defined so from now on'),
          201: theAgent('It is new'),
          ...problems([], { body: true }),
        },
      },
    },
    async (request, reply) => {
      const { name } = request.params;
      if (request.body.name !== undefined && request.body.name !== name) {
        throw fieldError('body', '/name', `must be ${name}, the name in the path, or left out`);
      }
      const { agent, created } = await agents.put(TENANT, withName(request.body, name));
      if (created) reply.code(201).header('location', `/agents/${name}`);
      return present(agent);
    },
  );

  app.get(
    '/agents',
    {
      schema: {
        operationId: 'listAgents',
        summary: 'List agents, newest first',
        tags,
        querystring: Type.Object(
          { cursor: Type.Optional(Cursor), limit: Type.Optional(Limit) },
          { additionalProperties: false },
        ),
        response: { 200: answer('A page of agents', ref(AgentPage)), ...problems([], { body: false }) },
      },
    },
    async (request) => {
      const { cursor, limit = 50 } = request.query;
      return keyPage(await agents.list(TENANT, decodeKeyCursor(cursor), limit + 1), limit, present);
    },
  );

  app.get(
    '/agents/:name',
    {
      schema: {
        operationId: 'getAgent',
        summary: 'Read the definition of an agent',
        tags,
        params: AgentParams,
        querystring: NoQuery,
        response: { 200: theAgent('The agent'), ...problems(['AGENT_NOT_FOUND'], { body: false }) },
      },
    },
    async (request) => present(await agents.get(TENANT, request.params.name)),
  );

  app.delete(
    '/agents/:name',
    {
      schema: {
        operationId: 'deleteAgent',
        summary: 'Delete an agent; its sessions stay, and go on without its prompt',
        tags,
        params: AgentParams,
        querystring: NoQuery,
        response: {
          204: { description: 'It is gone', type: 'null' },
          ...problems(['AGENT_NOT_FOUND', 'AGENT_IN_USE'], { body: false }),
        },
      },
    },
    async (request, reply) => {
      await agents.remove(TENANT, request.params.name);
      return reply.code(204).send(null);
    },
  );
};

function present({ definition, created_at, updated_at }: Agent) {
  return { ...definition, created_at: iso(created_at), updated_at: iso(updated_at) };
}
