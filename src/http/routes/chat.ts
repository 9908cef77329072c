import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import { Type } from 'typebox';
import { AgentName } from '../../agents/definition.js';
import type { TurnEvent } from '../../agents/turn/events.js';
import { callerSignal } from '../caller-signal.js';
import { IdempotencyKey, keyedRequest, REPLAYED_HEADER, sendStored } from '../idempotency.js';
import { toAppError } from '../plugins/problem-details.js';
import { problemOf } from '../problem.js';
import { ChatAnswer, ChatEvent, ChatRequest } from '../schemas/chat.js';
import { NoQuery, problems, ref } from '../schemas/common.js';
import { openSse, type SseStream } from '../sse.js';
import { TENANT } from '../tenant.js';

export const AgentParams = Type.Object({ name: AgentName }, { additionalProperties: false });

/** Talking to an agent. */
export const chatRoutes: FastifyPluginAsyncTypebox = async (app) => {
  const { chat } = app.services;

  app.post(
    '/agents/:name/chat',
    {
      schema: {
        operationId: 'chat',
        summary: 'Send a message to an agent, or the results of tools that it called',
        description:
          'Stores the message, runs the agent, and answers when it has answered or called tools that the caller ' +
          'runs. When the caller goes away the turn ends; messages that were stored stay. With `stream`, the answer ' +
          'is an event stream as soon as the message is stored.',
        tags: ['Agents'],
        params: AgentParams,
        querystring: NoQuery,
        headers: IdempotencyKey,
        body: ref(ChatRequest),
        response: {
          200: {
            description: 'What the turn came to',
            headers: REPLAYED_HEADER,
            content: {
              'application/json': { schema: ref(ChatAnswer) },
              'text/event-stream': { schema: ref(ChatEvent) },
            },
          },
          ...problems(
            [
              'AGENT_NOT_FOUND',
              'SESSION_NOT_FOUND',
              'SESSION_CLOSED',
              'SESSION_BUSY',
              'SESSION_CHANGED',
              'NOTHING_TO_ANSWER',
              'TOOL_CALL_CLOSED',
              'EMPTY_REPLY',
              'REPLY_TRUNCATED',
              'STEP_LIMIT_REACHED',
              'CONTEXT_OVERFLOW',
              'MODEL_UNAVAILABLE',
              'MODEL_AUTH',
              'MODEL_QUOTA',
              'MODEL_REJECTED',
              'MODEL_NOT_CONFIGURED',
              'MODEL_RATE_LIMITED',
              'MODEL_TIMEOUT',
            ],
            { body: true, key: true },
          ),
        },
      },
    },
    async (request, reply) => {
      const { message, sessionId, toolResults, stream: wantsStream = false } = request.body;
      const turn = {
        message: message ?? null,
        toolResults: toolResults ?? [],
        sessionId: sessionId ?? null,
        key: keyedRequest(request),
      };
      let stream: SseStream | null = null;
      const open = (): SseStream => {
        stream ??= openSse(reply);
        return stream;
      };
      const emit = ({ type, data }: TurnEvent): void => {
        if (wantsStream) open().send({ event: type, data: JSON.stringify(data) });
      };
      try {
        const { name } = request.params;
        const outcome = await chat.chat(TENANT, name, turn, emit, callerSignal(reply));
        if (!wantsStream) return sendStored(reply, outcome.answer, outcome.replayed);
        if (outcome.replayed) {
          reply.header('idempotency-replayed', 'true');
          const { sessionId: id } = outcome;
          open().send({ event: 'session-opened', data: JSON.stringify({ sessionId: id }) });
        }
        open().send({ event: 'turn-completed', data: outcome.answer.body });
      } catch (error) {
        // Before the first event it is an answer like any other.
        if (stream === null) throw error;
        const failure = toAppError(error);
        request.log.info({ code: failure.code }, 'the stream ended with an error');
        open().send({ event: 'error', data: JSON.stringify(problemOf(failure, request.id)) });
      }
      open().end();
      return reply;
    },
  );
};
