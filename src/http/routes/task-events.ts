import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import { Type } from 'typebox';
import { isAtRest } from '../../agents/tasks/states.js';
import { callerSignal } from '../caller-signal.js';
import { toAppError } from '../plugins/problem-details.js';
import { problemOf } from '../problem.js';
import { NoQuery, problems, ref } from '../schemas/common.js';
import { TaskEvent, TaskParams } from '../schemas/task.js';
import { openSse } from '../sse.js';
import { TENANT } from '../tenant.js';

const LastEventId = Type.Object({
  'last-event-id': Type.Optional(
    Type.String({ pattern: '^[0-9]{1,15}$', description: '`id` of the last event that was read' }),
  ),
});

/** What happens to a task, as it happens, from any process. */
export const taskEventRoutes: FastifyPluginAsyncTypebox = async (app) => {
  const { tasks } = app.services;

  app.get(
    '/tasks/:id/events',
    {
      schema: {
        operationId: 'followTask',
        summary: 'Follow what happens to a task',
        description:
          'All events of the task so far, or those after `Last-Event-ID`, and then each as it comes. The stream ends ' +
          'when the task is completed, failed, cancelled or interrupted; while it waits it goes on. With nothing ' +
          'left to tell the answer is 204, at which an `EventSource` does not come back.',
        tags: ['Tasks'],
        params: TaskParams,
        headers: LastEventId,
        querystring: NoQuery,
        response: {
          200: {
            description: 'The events',
            content: { 'text/event-stream': { schema: ref(TaskEvent) } },
          },
          204: { description: 'The task rests, and all its events were read', type: 'null' },
          ...problems(['TASK_NOT_FOUND'], { body: false }),
        },
      },
    },
    async (request, reply) => {
      const task = await tasks.get(TENANT, request.params.id);
      const after = Number(request.headers['last-event-id'] ?? -1);
      if (isAtRest(task.status) && after >= task.event_count - 1) return reply.code(204).send(null);
      const signal = callerSignal(reply);
      const stream = openSse(reply);
      try {
        for await (const { seq, type, data } of tasks.follow(task, after, signal)) {
          stream.send({ id: String(seq), event: type, data });
        }
      } catch (error) {
        const failure = toAppError(error);
        request.log.info({ code: failure.code }, 'the stream ended with an error');
        stream.send({ event: 'error', data: JSON.stringify(problemOf(failure, request.id)) });
      }
      stream.end();
      return reply;
    },
  );
};
