import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import { Type } from 'typebox';
import type { CompactResult as CompactionResult } from '../../compaction/compact-result.js';
import { listCompactions } from '../../db/repositories/compactions.js';
import { leaseOwner } from '../../db/repositories/leases.js';
import { callerSignal } from '../caller-signal.js';
import { decodeKeyCursor, keyPage } from '../cursor.js';
import { IdempotencyKey, keyedRequest, REPLAYED_HEADER, sendStored } from '../idempotency.js';
import { checkedPercent } from '../incoming.js';
import { presentCompaction, presentCompactResult } from '../present.js';
import { answer, Cursor, Limit, NoQuery, problems, ref, SessionParams } from '../schemas/common.js';
import { CompactionPage, CompactResult, CompactSession } from '../schemas/compaction.js';
import { TENANT } from '../tenant.js';

const tags = ['Compaction'];

/** Compacting a session by hand, and the record of what was done. */
export const compactionRoutes: FastifyPluginAsyncTypebox = async (app) => {
  const { sessions, compaction, store } = app.services;

  app.post(
    '/sessions/:id/compact',
    {
      schema: {
        operationId: 'compactSession',
        summary: 'Fold the oldest part of a session into its summary',
        description:
          'Folds the oldest messages that no summary covers, up to a share of the open context, and moves ' +
          '`compact_size`. No message is changed or deleted. The body may be left out. When the caller goes ' +
          'away, the work stops; steps that were committed stand. An Idempotency-Key is left aside with `dryRun`.',
        tags,
        params: SessionParams,
        headers: IdempotencyKey,
        querystring: NoQuery,
        body: ref(CompactSession),
        response: {
          200: answer(
            'What was folded, or that there was nothing to fold',
            ref(CompactResult),
            REPLAYED_HEADER,
          ),
          ...problems(
            [
              'SESSION_NOT_FOUND',
              'SESSION_CLOSED',
              'COMPACTION_IN_PROGRESS',
              'SESSION_CHANGED',
              'EMPTY_SUMMARY',
              'SUMMARY_REFUSED',
              'SUMMARY_TRUNCATED',
              'SUMMARY_TOO_LONG',
              'SUMMARY_BUDGET_TOO_SMALL',
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
      const { compactCount, instructions, keepRecent, dryRun, model } = request.body ?? {};
      const options = {
        percent: checkedPercent(compactCount),
        instructions: instructions?.trim() ? instructions.trim() : null,
        keepRecent: keepRecent ?? null,
        dryRun: dryRun ?? false,
        model: model ?? null,
      };
      const key = keyedRequest(request);
      const { id } = request.params;
      // A preview does nothing that a second request could double.
      if (key === null || options.dryRun) {
        const result = await compaction.compact(TENANT, id, options, callerSignal(reply));
        return presentCompactResult(result, options.dryRun);
      }
      const keyed = {
        request: key,
        answer: (result: CompactionResult) => ({
          status: 200,
          location: null,
          body: JSON.stringify(presentCompactResult(result, false)),
        }),
      };
      const outcome = await compaction.compactOnce(TENANT, id, options, keyed, callerSignal(reply));
      return sendStored(reply, outcome.answer, outcome.replayed);
    },
  );

  app.get(
    '/sessions/:id/compactions',
    {
      schema: {
        operationId: 'listCompactions',
        summary: 'List the compactions of a session, newest first, failed ones included',
        tags,
        params: SessionParams,
        querystring: Type.Object(
          { cursor: Type.Optional(Cursor), limit: Type.Optional(Limit) },
          { additionalProperties: false },
        ),
        response: {
          200: answer('A page of compactions', ref(CompactionPage)),
          ...problems(['SESSION_NOT_FOUND'], { body: false }),
        },
      },
    },
    async (request) => {
      const { cursor, limit = 50 } = request.query;
      const session = await sessions.get(TENANT, request.params.id);
      const before = decodeKeyCursor(cursor);
      // On one state: an attempt that ends between two reads would look like one whose process died.
      const { rows, owner } = await store.snapshot(async (db) => ({
        rows: await listCompactions(db, session.pk, before, limit + 1),
        owner: await leaseOwner(db, session.pk),
      }));
      return keyPage(rows, limit, (row) => presentCompaction(row, owner));
    },
  );
};
