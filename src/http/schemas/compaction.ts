import { Type } from 'typebox';
import {
  Count,
  NO_NUL_PATTERN,
  named,
  nullable,
  optionalBody,
  pageOf,
  ref,
  stringEnum,
  Timestamp,
} from './common.js';
import { CompactCount, Session } from './session.js';

/** Longest `instructions`, in chars: more would crowd out the text to be summarized. */
export const MAX_INSTRUCTIONS = 4_000;

const compactFields = Type.Object({
  compactCount: Type.Optional({ ...CompactCount, description: 'Percent to fold, for this call only' }),
  instructions: Type.Optional(
    nullable(
      Type.String({
        maxLength: MAX_INSTRUCTIONS,
        pattern: NO_NUL_PATTERN,
        description: 'Wishes for this summary, added to the prompt',
      }),
    ),
  ),
  keepRecent: Type.Optional(
    Type.Integer({ minimum: 0, maximum: 1_000_000, description: 'The newest n messages stay out' }),
  ),
  dryRun: Type.Optional(Type.Boolean({ description: 'Only say what would be folded; no model call' })),
  model: Type.Optional(
    nullable(
      Type.String({
        minLength: 1,
        maxLength: 200,
        pattern: NO_NUL_PATTERN,
        description: 'Another model, for this call only; `embedded/extractive` is always there',
      }),
    ),
  ),
});

export const CompactSession = named('CompactSession', optionalBody(compactFields, [{ compactCount: 50 }]));

export const Compaction = named(
  'Compaction',
  Type.Object({
    id: Type.String(),
    predecessor_id: nullable(
      Type.String({ description: 'The compaction whose summary this one went on from' }),
    ),
    trigger: stringEnum(['manual', 'automatic'], {
      description: '`automatic`: before a model call of a turn, when the context came near its limit',
    }),
    outcome: stringEnum(['running', 'completed', 'partial', 'failed'], {
      description: '`partial`: failed, but steps before the failure are committed',
    }),
    error_code: nullable(Type.String()),
    error_detail: nullable(Type.String()),
    from_size: Count,
    to_size: Count,
    compact_count: Type.Number(),
    keep_recent: Count,
    instructions: nullable(Type.String()),
    summary: nullable(Type.String({ description: 'The summary it produced' })),
    chars_before: Type.Integer({ minimum: 0, description: 'Chars of the open context before' }),
    chars_after: Type.Integer({
      minimum: 0,
      description: 'The same after it, without messages that came meanwhile',
    }),
    model: Type.String(),
    requests: Type.Integer({ minimum: 0, description: 'Requests sent to the model, retries included' }),
    usage: Type.Object(
      { input_tokens: nullable(Count), output_tokens: nullable(Count) },
      { description: 'Sum over all its requests; null where the model did not say' },
    ),
    duration_ms: Count,
    created_at: Timestamp,
    finished_at: nullable(Timestamp),
  }),
);

export const CompactionPage = pageOf('CompactionPage', Compaction);

export const CompactResult = named(
  'CompactResult',
  Type.Object({
    sessionId: Type.String(),
    compactedCount: Type.Integer({ minimum: 0, description: 'Messages folded by this call' }),
    newSize: Type.Integer({ minimum: 0, description: '`compact_size` after it' }),
    alreadyUpToDate: Type.Boolean({ description: 'True when there was nothing to fold; `reason` says why' }),
    reason: Type.Optional(
      stringEnum(['nothing_new', 'empty_text', 'pending_tool_calls', 'turn_open', 'kept_recent']),
    ),
    lastCompactedAt: Type.Optional(nullable(Timestamp)),
    dryRun: Type.Optional(Type.Boolean()),
    charsBefore: Type.Optional(
      Type.Integer({ minimum: 0, description: 'Dry run: chars of the open context' }),
    ),
    charsFolded: Type.Optional(
      Type.Integer({ minimum: 0, description: 'Dry run: chars that would be folded' }),
    ),
    charsAfterAtMost: Type.Optional(
      Type.Integer({
        minimum: 0,
        description: 'Dry run: chars afterwards, with the longest summary allowed',
      }),
    ),
    session: ref(Session),
    compaction: Type.Optional(
      Type.Unsafe<object | null>({
        oneOf: [ref(Compaction), { type: 'null' }],
        description: 'The record of this call',
      }),
    ),
  }),
);
