import { type Static, type TSchema, Type } from 'typebox';
import type { ErrorCode } from '../../errors.js';
import { AppError, ERROR_CATALOGUE } from '../../errors.js';
import { problemOf } from '../problem.js';

/** A reference to a component registered with `addSchema`, with the component's own static type. */
export function ref<S extends TSchema & { $id: string }>(component: S) {
  return Type.Unsafe<Static<S>>(Type.Ref(component.$id));
}

/** Gives a schema a name in the document. */
export function named<S extends TSchema>(id: string, schema: S): S & { $id: string } {
  return Object.assign(schema, { $id: id });
}

/** A scalar that may be null, as `type: [T, "null"]`, which generators read better than `anyOf`. */
export function nullable<S extends TSchema & { type: string }>(schema: S) {
  return Type.Unsafe<Static<S> | null>({ ...schema, type: [schema.type, 'null'] });
}

/** One of some strings, with `type` beside `enum`: generators name such enums and do not widen them. */
export function stringEnum<const T extends readonly string[]>(values: T, options: object = {}) {
  return Type.Unsafe<T[number]>({ ...options, type: 'string', enum: [...values] });
}

export const Timestamp = Type.String({ format: 'date-time', description: 'UTC, ISO 8601' });
export const Count = Type.Integer({ minimum: 0 });

/** Ids that clients choose. No slash, no space, no control character: safe in paths, logs and file names. */
export const SESSION_ID_PATTERN = '^[A-Za-z0-9_][A-Za-z0-9_.:-]{0,127}$';
/** Text without U+0000, which PostgreSQL cannot store. */
export const NO_NUL_PATTERN = '^[^\\u0000]*$';

export const SessionParams = Type.Object(
  {
    id: Type.String({
      pattern: SESSION_ID_PATTERN,
      description: 'Id of the session',
      examples: ['trip-to-oslo'],
    }),
  },
  { additionalProperties: false },
);

export const Cursor = Type.String({
  minLength: 1,
  maxLength: 300,
  description: '`next_cursor` of the page before',
});
export const Limit = Type.Integer({
  minimum: 1,
  maximum: 200,
  default: 50,
  description: 'Most items on the page',
});

/** A closed object as a body that may also be left out, which validation sees as null. */
export function optionalBody<S extends TSchema & { type: 'object' }>(fields: S, examples: readonly object[]) {
  return Type.Unsafe<Static<S> | null>({
    ...fields,
    type: ['object', 'null'],
    additionalProperties: false,
    examples,
  });
}

/** The body of operations that take none: left out, or an object without members. */
export const NoOptions = named('NoOptions', optionalBody(Type.Object({}), [{}]));
export const NoQuery = Type.Object({}, { additionalProperties: false });

/** A JSON response of the document. */
export function answer<S extends TSchema>(description: string, schema: S, headers?: Record<string, object>) {
  const content = { 'application/json': { schema } };
  return headers === undefined ? { description, content } : { description, headers, content };
}

/** The body of a page of a list. */
export function pageOf<S extends TSchema & { $id: string }>(id: string, item: S) {
  return named(
    id,
    Type.Object({
      data: Type.Array(ref(item)),
      next_cursor: nullable(Type.String({ description: 'Names the page after this one; null on the last' })),
      has_more: Type.Boolean(),
    }),
  );
}

export const Problem = named(
  'Problem',
  Type.Object(
    {
      type: Type.String({ description: 'Names the kind of problem; the same for the same `code`' }),
      title: Type.String(),
      status: Type.Integer({ minimum: 400, maximum: 599 }),
      detail: Type.String(),
      instance: Type.String({ description: 'Id of the request, as in the log and in `x-request-id`' }),
      code: stringEnum(Object.keys(ERROR_CATALOGUE)),
      retryable: Type.Boolean({ description: 'Whether the same request may succeed later, unchanged' }),
      errors: Type.Optional(
        Type.Array(
          Type.Object({
            in: stringEnum(['body', 'path', 'query', 'header']),
            pointer: Type.String({ description: 'JSON pointer (RFC 6901) into that part of the request' }),
            message: Type.String(),
          }),
        ),
      ),
      sessionId: Type.Optional(
        Type.String({ description: 'With a failed turn: its session, which holds what was stored by then' }),
      ),
      compaction: Type.Optional(
        Type.Object(
          {
            id: Type.String(),
            from_size: Count,
            to_size: Count,
            outcome: stringEnum(['partial', 'failed']),
          },
          { description: 'With a failed compaction: what it had committed by then stands' },
        ),
      ),
    },
    { description: 'RFC 9457 problem details' },
  ),
);

/** Codes that any operation may answer with. */
const COMMON: readonly ErrorCode[] = [
  'VALIDATION_FAILED',
  'FORBIDDEN_ORIGIN',
  'INTERNAL_ERROR',
  'STORE_UNAVAILABLE',
  'SHUTTING_DOWN',
];
const WITH_BODY: readonly ErrorCode[] = ['PAYLOAD_TOO_LARGE', 'UNSUPPORTED_MEDIA_TYPE'];
/** Of operations that take an Idempotency-Key. */
const WITH_KEY: readonly ErrorCode[] = ['IDEMPOTENCY_KEY_IN_USE', 'IDEMPOTENCY_KEY_REUSED'];

/** The problem responses of an operation, by status; each says which codes it may carry. */
export function problems(codes: readonly ErrorCode[], options: { body: boolean; key?: boolean }) {
  const byStatus = new Map<number, ErrorCode[]>();
  const shared = [...COMMON, ...(options.body ? WITH_BODY : []), ...(options.key ? WITH_KEY : [])];
  for (const code of [...shared, ...codes]) {
    const { status } = ERROR_CATALOGUE[code];
    byStatus.set(status, [...(byStatus.get(status) ?? []), code]);
  }
  return Object.fromEntries(
    [...byStatus].map(([status, list]) => [
      status,
      {
        description: list.join(', '),
        content: { 'application/problem+json': { schema: ref(Problem), examples: problemExamples(list) } },
      },
    ]),
  );
}

function problemExamples(codes: readonly ErrorCode[]) {
  const value = (code: ErrorCode) =>
    problemOf(new AppError(code, 'What exactly was wrong'), '0b6f0a38-2c1c-4a3e-9c5c-6a3e9bb3a1a7');
  return Object.fromEntries(codes.map((code) => [code, { value: value(code) }]));
}
