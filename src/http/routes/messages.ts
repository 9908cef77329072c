import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import { Type } from 'typebox';
import type { ListedMessage, MessageRange } from '../../db/repositories/messages.js';
import { fieldError } from '../../errors.js';
import type { StoredMessage } from '../../sessions/append.js';
import { listMessages } from '../../sessions/message-list.js';
import { badCursor, decodeCursor, encodeCursor } from '../cursor.js';
import { IdempotencyKey, keyedRequest, REPLAYED_HEADER, sendStored } from '../idempotency.js';
import { incomingMessages } from '../incoming.js';
import { iso } from '../present.js';
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
import { AppendedMessages, AppendMessages, MessagePage } from '../schemas/message.js';
import { sendJson } from '../send-json.js';
import { TENANT } from '../tenant.js';

const tags = ['Messages'];
const Seq = Type.Integer({ minimum: 0, description: 'A `seq`, itself left out' });

const MessageQuery = Type.Object(
  {
    after: Type.Optional(Seq),
    before: Type.Optional(Seq),
    order: Type.Optional(stringEnum(['asc', 'desc'], { default: 'asc' })),
    limit: Type.Optional(Limit),
    cursor: Type.Optional({
      ...Cursor,
      description: 'From the page before; it stands for after, before and order',
    }),
  },
  { additionalProperties: false },
);

/** Appending messages, and reading them back word for word. */
export const messageRoutes: FastifyPluginAsyncTypebox = async (app) => {
  const { sessions, store } = app.services;

  app.post(
    '/sessions/:id/messages',
    {
      schema: {
        operationId: 'appendMessages',
        summary: 'Append messages',
        description: 'All of them or none, as one contiguous run of `seq`. Messages never change afterwards.',
        tags,
        params: SessionParams,
        headers: IdempotencyKey,
        querystring: NoQuery,
        body: ref(AppendMessages),
        response: {
          201: answer('Where the messages stand', ref(AppendedMessages), REPLAYED_HEADER),
          ...problems(['SESSION_NOT_FOUND', 'SESSION_CLOSED', 'SESSION_BUSY'], { body: true, key: true }),
        },
      },
    },
    async (request, reply) => {
      const messages = incomingMessages(request.body.messages, request.rawMessages);
      const key = keyedRequest(request);
      if (key === null) {
        reply.code(201);
        return presentStored(await sessions.append(TENANT, request.params.id, messages));
      }
      const { answer, replayed } = await sessions.appendOnce(TENANT, request.params.id, messages, {
        request: key,
        answer: (stored) => ({ status: 201, location: null, body: JSON.stringify(presentStored(stored)) }),
      });
      return sendStored(reply, answer, replayed);
    },
  );

  app.get(
    '/sessions/:id/messages',
    {
      schema: {
        operationId: 'listMessages',
        summary: 'Read messages as they were given',
        description: 'A page may hold fewer than `limit` when its messages are very large; `has_more` tells.',
        tags,
        params: SessionParams,
        querystring: MessageQuery,
        response: {
          200: answer('A page of messages', ref(MessagePage)),
          ...problems(['SESSION_NOT_FOUND'], { body: false }),
        },
      },
    },
    async (request, reply) => {
      const { limit = 50, cursor, ...bounds } = request.query;
      const range = cursor === undefined ? rangeOf(bounds) : rangeOfCursor(cursor, bounds);
      const page = await listMessages(store, TENANT, request.params.id, range, limit);
      const next = page.hasMore ? cursorAfter(page.messages.at(-1), range) : null;
      const tail = `],"next_cursor":${JSON.stringify(next)},"has_more":${page.hasMore}}`;
      return sendJson(reply, [Buffer.from(`{"data":[${page.messages.map(messageJson).join(',')}${tail}`)]);
    },
  );
};

function presentStored(stored: readonly StoredMessage[]) {
  return { data: stored.map((message) => ({ ...message, created_at: iso(message.created_at) })) };
}

interface Bounds {
  readonly after?: number;
  readonly before?: number;
  readonly order?: MessageRange['order'];
}

function rangeOf({ after, before, order }: Bounds): MessageRange {
  return { after: after ?? null, before: before ?? null, order: order ?? 'asc' };
}

function rangeOfCursor(cursor: string, bounds: Bounds): MessageRange {
  for (const name of ['after', 'before'] as const) {
    if (bounds[name] !== undefined)
      throw fieldError('query', `/${name}`, 'cannot go with a cursor, which holds it');
  }
  const [after, before, order] = decodeCursor(cursor, 3);
  const isBound = (value: unknown): value is number | null => value === null || Number.isSafeInteger(value);
  if (!isBound(after) || !isBound(before) || (order !== 'asc' && order !== 'desc')) throw badCursor();
  return { after, before, order };
}

function cursorAfter(last: ListedMessage | undefined, range: MessageRange): string | null {
  if (last === undefined) return null;
  const { after, before, order } = range;
  return encodeCursor(order === 'asc' ? [last.seq, before, order] : [after, last.seq, order]);
}

/** Written around the stored text rather than through an object: the text stays what it was. */
function messageJson({ id, seq, position, chars, created_at, body }: ListedMessage): string {
  const head = JSON.stringify({ id, seq, position, chars, created_at: iso(created_at) });
  return `${head.slice(0, -1)},"message":${body}}`;
}
