import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import { Type } from 'typebox';
import { decodeKeyCursor, keyPage } from '../cursor.js';
import { IdempotencyKey, keyedRequest, REPLAYED_HEADER, sendStored } from '../idempotency.js';
import { presentTask, taskAccepted } from '../present-task.js';
import { AgentParams } from '../schemas/agent.js';
import { answer, Cursor, Limit, NoOptions, NoQuery, problems, ref } from '../schemas/common.js';
import {
  CreateTask,
  ResumeTask,
  TASK_LOCATION,
  TaskPage,
  TaskParams,
  TaskQuery,
  theTask,
} from '../schemas/task.js';
import { TENANT } from '../tenant.js';

const tags = ['Tasks'];
const accepted = theTask('The task is queued', { ...TASK_LOCATION, ...REPLAYED_HEADER });

/** Work that runs by itself: begin, look at, resume, cancel. */
export const taskRoutes: FastifyPluginAsyncTypebox = async (app) => {
  const { tasks } = app.services;

  app.post(
    '/agents/:name/tasks',
    {
      schema: {
        operationId: 'createTask',
        summary: 'Give an agent a task',
        description:
          'Answers at once; the task runs when there is room, and when no other turn runs on its session. Tasks of ' +
          'one session run in the order in which they were given.',
        tags,
        params: AgentParams,
        headers: IdempotencyKey,
        querystring: NoQuery,
        body: ref(CreateTask),
        response: {
          202: accepted,
          ...problems(['AGENT_NOT_FOUND', 'SESSION_NOT_FOUND', 'SESSION_CLOSED', 'MODEL_NOT_CONFIGURED'], {
            body: true,
            key: true,
          }),
        },
      },
    },
    async (request, reply) => {
      const { input, sessionId = null } = request.body;
      const asked = { tenant: TENANT, key: keyedRequest(request), answer: taskAccepted };
      const { answer, replayed } = await tasks.create(asked, request.params.name, { input, sessionId });
      return sendStored(reply, answer, replayed);
    },
  );

  app.post(
    '/agents/:name/ticks',
    {
      schema: {
        operationId: 'createTick',
        summary: 'Let a daemon tick now',
        description:
          'A tick is a task with the prompt of the daemon, on a fresh session that is closed after it. One of an ' +
          'agent is at work at a time.',
        tags,
        params: AgentParams,
        headers: IdempotencyKey,
        querystring: NoQuery,
        body: ref(NoOptions),
        response: {
          202: accepted,
          ...problems(['AGENT_NOT_FOUND', 'TICK_IN_PROGRESS', 'MODEL_NOT_CONFIGURED'], {
            body: true,
            key: true,
          }),
        },
      },
    },
    async (request, reply) => {
      const asked = { tenant: TENANT, key: keyedRequest(request), answer: taskAccepted };
      const { answer, replayed } = await tasks.createTick(asked, request.params.name);
      return sendStored(reply, answer, replayed);
    },
  );

  app.get(
    '/tasks',
    {
      schema: {
        operationId: 'listTasks',
        summary: 'List tasks and ticks, newest first',
        tags,
        querystring: Type.Object(
          { ...TaskQuery, cursor: Type.Optional(Cursor), limit: Type.Optional(Limit) },
          { additionalProperties: false },
        ),
        response: { 200: answer('A page of tasks', ref(TaskPage)), ...problems([], { body: false }) },
      },
    },
    async (request) => {
      const { cursor, limit = 50, ...filter } = request.query;
      const rows = await tasks.list({ tenant: TENANT, ...filter }, decodeKeyCursor(cursor), limit + 1);
      return keyPage(rows, limit, presentTask);
    },
  );

  app.get(
    '/tasks/:id',
    {
      schema: {
        operationId: 'getTask',
        summary: 'Look at a task',
        tags,
        params: TaskParams,
        querystring: NoQuery,
        response: { 200: theTask('The task'), ...problems(['TASK_NOT_FOUND'], { body: false }) },
      },
    },
    async (request) => presentTask(await tasks.get(TENANT, request.params.id)),
  );

  app.post(
    '/tasks/:id/resume',
    {
      schema: {
        operationId: 'resumeTask',
        summary: 'Let a task go on',
        description:
          'With the results that it waits for, with a message, or, after a failure or an interruption, from where ' +
          'it stopped. The same resume again changes nothing.',
        tags,
        params: TaskParams,
        headers: IdempotencyKey,
        querystring: NoQuery,
        body: ref(ResumeTask),
        response: {
          202: accepted,
          ...problems(
            [
              'TASK_NOT_FOUND',
              'TASK_NOT_RESUMABLE',
              'TOOL_CALL_CLOSED',
              'SESSION_CHANGED',
              'SESSION_CLOSED',
              'AGENT_NOT_FOUND',
              'MODEL_NOT_CONFIGURED',
            ],
            { body: true, key: true },
          ),
        },
      },
    },
    async (request, reply) => {
      const { message = null, toolResults = [] } = request.body ?? {};
      const asked = { tenant: TENANT, key: keyedRequest(request), answer: taskAccepted };
      const { answer, replayed } = await tasks.resume(asked, request.params.id, { message, toolResults });
      return sendStored(reply, answer, replayed);
    },
  );

  app.post(
    '/tasks/:id/cancel',
    {
      schema: {
        operationId: 'cancelTask',
        summary: 'End a task for good',
        description:
          'A model call at work is broken off; messages that were stored stay. Cancelling it again changes nothing.',
        tags,
        params: TaskParams,
        querystring: NoQuery,
        body: ref(NoOptions),
        response: {
          200: theTask('The task is cancelled'),
          ...problems(['TASK_NOT_FOUND', 'TASK_FINISHED'], { body: true }),
        },
      },
    },
    async (request) => presentTask(await tasks.cancel(TENANT, request.params.id)),
  );
};
