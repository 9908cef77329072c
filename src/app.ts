import { randomUUID } from 'node:crypto';
import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox';
import Fastify, { type FastifyBaseLogger, type FastifyInstance } from 'fastify';
import { AppError } from './errors.js';
import { clientErrorHandler } from './http/plugins/client-error.js';
import { jsonBody } from './http/plugins/json-body.js';
import { openapi } from './http/plugins/openapi.js';
import { originGuard } from './http/plugins/origin-guard.js';
import { problemDetails, sendProblem } from './http/plugins/problem-details.js';
import { schemaController } from './http/plugins/validation.js';
import { agentRoutes } from './http/routes/agents.js';
import { chatRoutes } from './http/routes/chat.js';
import { compactionRoutes } from './http/routes/compactions.js';
import { contextRoutes } from './http/routes/context.js';
import { healthRoutes } from './http/routes/health.js';
import { messageRoutes } from './http/routes/messages.js';
import { sessionLifecycleRoutes } from './http/routes/session-lifecycle.js';
import { sessionRoutes } from './http/routes/sessions.js';
import { taskEventRoutes } from './http/routes/task-events.js';
import { taskRoutes } from './http/routes/tasks.js';
import { createServices, type ServiceParts, type Services } from './services.js';

declare module 'fastify' {
  interface FastifyInstance {
    services: Services;
  }
}

export interface AppOptions {
  readonly allowedHosts: readonly string[];
  /** Largest request body, in bytes. */
  readonly bodyLimit: number;
  /** How long compactions at work may go on when the app closes, in ms. */
  readonly shutdownGraceMs: number;
}

export type AppParts = Omit<ServiceParts, 'logger'> & {
  /** Called last, when the app has closed: summarizers, endpoint connections. */
  readonly close?: () => Promise<void>;
};

/**
 * The service as a Fastify app: every plugin, option and route. It reads no environment and does not listen,
 * so that tests and the server run the same thing. Closing it ends compactions and closes the store.
 */
export async function buildApp(
  options: AppOptions,
  parts: AppParts,
  logger: FastifyBaseLogger,
): Promise<FastifyInstance> {
  const app = Fastify({
    loggerInstance: logger,
    bodyLimit: options.bodyLimit,
    // A request without Host is refused by the origin guard, with problem details like any other.
    http: { requireHostHeader: false },
    genReqId: () => randomUUID(),
    requestIdHeader: false,
    // Session ids have up to 128 chars, and may arrive percent-encoded.
    routerOptions: { maxParamLength: 200 },
    // The longest compaction takes as long as its model; what must not be slow is sending the request.
    requestTimeout: 120_000,
    keepAliveTimeout: 72_000,
    return503OnClosing: false,
    schemaController,
    frameworkErrors: (error, request, reply) => {
      sendProblem(error, request, reply);
    },
    clientErrorHandler,
  }).withTypeProvider<TypeBoxTypeProvider>();
  // Plain JSON: compiled serializers drop fields and turn null into "" where schema and value disagree.
  app.setSerializerCompiler(() => (value) => JSON.stringify(value));

  const services = createServices({ ...parts, logger });
  app.decorate('services', services);

  let closing = false;
  app.addHook('onRequest', async (request, reply) => {
    reply.header('x-request-id', request.id);
    if (!closing) return;
    reply.header('connection', 'close');
    throw new AppError('SHUTTING_DOWN', 'The service is shutting down', { retryAfterSeconds: 1 });
  });
  app.addHook('preClose', async () => {
    closing = true;
    const { shutdownGraceMs } = options;
    await Promise.all([
      services.tasks.close(),
      services.work.close(shutdownGraceMs),
      services.compaction.close(shutdownGraceMs),
    ]);
  });
  // What runs by itself belongs to a server: a tool that opens the same database does not begin it.
  app.addHook('onListen', async () => services.tasks.start());
  app.addHook('onClose', async () => {
    await parts.store.close();
    await parts.close?.();
  });

  await app.register(problemDetails);
  await app.register(originGuard, { allowedHosts: options.allowedHosts });
  await app.register(jsonBody);
  await app.register(openapi);
  await app.register(sessionRoutes);
  await app.register(sessionLifecycleRoutes);
  await app.register(messageRoutes);
  await app.register(contextRoutes);
  await app.register(compactionRoutes);
  await app.register(agentRoutes);
  await app.register(chatRoutes);
  await app.register(taskRoutes);
  await app.register(taskEventRoutes);
  await app.register(healthRoutes);
  await app.ready();
  return app;
}
