import { DEFAULT_PERCENT } from '../compaction/percent.js';
import { insertSession } from '../db/repositories/sessions.js';
import type { Db } from '../db/store.js';
import type { SessionRow } from '../db/tables.js';
import { newId } from '../ids.js';

export interface NewSessionFields {
  readonly tenant: string;
  /** Null takes a new one. */
  readonly id: string | null;
  readonly kind: SessionRow['kind'];
  readonly agent: string | null;
  /** Percent; null takes the default. It is kept, whatever becomes of the agent. */
  readonly compactCount: number | null;
  readonly title?: string | null;
  /** JSON text of an object. */
  readonly metadata?: string | null;
  readonly parentSessionId?: string | null;
}

/** Inserts an empty session. A taken id is a unique violation, for the caller of the transaction to translate. */
export function createSession(db: Db, fields: NewSessionFields, nowMs: number): Promise<SessionRow> {
  return insertSession(db, {
    tenant: fields.tenant,
    id: fields.id ?? newId('sess', nowMs),
    agent: fields.agent,
    parent_session_id: fields.parentSessionId ?? null,
    title: fields.title ?? null,
    metadata: fields.metadata ?? null,
    compact_count: fields.compactCount ?? DEFAULT_PERCENT,
    kind: fields.kind,
    status: 'open',
    message_count: 0,
    conversation_count: 0,
    total_chars: 0,
    input_tokens: 0,
    output_tokens: 0,
    revision: 0,
    version: 1,
    created_at: nowMs,
    updated_at: nowMs,
  });
}
