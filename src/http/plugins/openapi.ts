import swagger from '@fastify/swagger';
import swaggerUi from '@fastify/swagger-ui';
import type { FastifyInstance } from 'fastify';
import fp from 'fastify-plugin';
import { withOptionalBodies } from '../optional-bodies.js';
import * as agent from '../schemas/agent.js';
import * as chat from '../schemas/chat.js';
import * as common from '../schemas/common.js';
import * as compaction from '../schemas/compaction.js';
import * as message from '../schemas/message.js';
import * as session from '../schemas/session.js';
import { TASK_COMPONENTS } from '../schemas/task.js';

const COMPONENTS = [
  common.Problem,
  common.NoOptions,
  message.ContentPart,
  message.ToolCall,
  message.ChatMessage,
  message.AppendMessages,
  message.AppendedMessage,
  message.AppendedMessages,
  message.StoredMessage,
  message.MessagePage,
  message.Context,
  session.Session,
  session.SessionPage,
  session.CreateSession,
  session.UpdateSession,
  compaction.CompactSession,
  compaction.Compaction,
  compaction.CompactionPage,
  compaction.CompactResult,
  chat.ToolResult,
  chat.ChatRequest,
  chat.TurnUsage,
  chat.TurnCompaction,
  chat.ChatAnswer,
  ...chat.CHAT_EVENTS,
  chat.ChatEvent,
  ...TASK_COMPONENTS,
  agent.AgentDefinition,
  agent.Agent,
  agent.AgentPage,
];

/** The named schemas, the OpenAPI document made from the routes that come after, and Swagger UI at /docs. */
export const openapi = fp(
  async (app: FastifyInstance) => {
    for (const component of COMPONENTS) app.addSchema(component);
    await app.register(swagger, {
      openapi: {
        openapi: '3.1.0',
        info: {
          title: 'compactd',
          version: '0.1.0',
          description:
            'Keeps the conversations of LLM agents, and keeps each one short enough for its model without losing a word.',
        },
        servers: [{ url: '/' }],
        tags: [
          { name: 'Sessions', description: 'Conversations' },
          { name: 'Messages', description: 'What was said, word for word, and what to send to a model' },
          { name: 'Compaction', description: 'Folding the oldest part of a conversation into its summary' },
          { name: 'Agents', description: 'Who talks: prompts, models and tools under a name' },
          { name: 'Tasks', description: 'Work that runs by itself, waits for results and can be resumed' },
          { name: 'Health', description: 'For probes' },
        ],
      },
      transformObject: (document) =>
        'openapiObject' in document ? withOptionalBodies(document.openapiObject) : document.swaggerObject,
      refResolver: {
        buildLocalReference: (json, _base, _fragment, i) =>
          typeof json.$id === 'string' ? json.$id : `Schema${i}`,
      },
    });
    await app.register(swaggerUi, {
      routePrefix: '/docs',
      uiConfig: { tryItOutEnabled: true, displayOperationId: true, deepLinking: true, docExpansion: 'list' },
    });
    app.get('/openapi.json', { schema: { hide: true } }, async () => app.swagger());
  },
  { name: 'openapi', fastify: '5.x' },
);
