/**
 * The one catalogue of errors a client can meet. Every failure of the service is one of these codes;
 * `http/plugins/problem-details.ts` is the only place that turns them into a response.
 */

interface CatalogueEntry {
  readonly status: number;
  readonly title: string;
  /** True when the same request may succeed later without being changed. */
  readonly retryable: boolean;
}

const entry = (status: number, title: string, retryable = false): CatalogueEntry => ({
  status,
  title,
  retryable,
});

export const ERROR_CATALOGUE = {
  VALIDATION_FAILED: entry(400, 'The request is not valid'),
  SESSION_CLOSED: entry(400, 'The session is closed'),
  FORBIDDEN_ORIGIN: entry(403, 'Requests from this host or origin are not allowed'),
  ROUTE_NOT_FOUND: entry(404, 'There is no such route'),
  SESSION_NOT_FOUND: entry(404, 'There is no such session'),
  AGENT_NOT_FOUND: entry(404, 'There is no such agent'),
  TASK_NOT_FOUND: entry(404, 'There is no such task'),
  SESSION_EXISTS: entry(409, 'A session with this id exists already'),
  SESSION_CHANGED: entry(409, 'The session changed in the meantime', true),
  SESSION_BUSY: entry(409, 'A turn runs on the session', true),
  NOTHING_TO_ANSWER: entry(409, 'The conversation ends with nothing that a model could answer'),
  TOOL_CALL_CLOSED: entry(409, 'The tool call does not wait for a result'),
  TASK_NOT_RESUMABLE: entry(409, 'The task is not in a state that can be resumed'),
  TASK_FINISHED: entry(409, 'The task is over'),
  TICK_IN_PROGRESS: entry(409, 'A tick of the agent is at work', true),
  AGENT_IN_USE: entry(409, 'Another agent has it as a subagent'),
  IDEMPOTENCY_KEY_IN_USE: entry(409, 'The request with this Idempotency-Key is still at work', true),
  COMPACTION_IN_PROGRESS: entry(409, 'The session is being compacted', true),
  PRECONDITION_FAILED: entry(412, 'The session is not at the version that If-Match names'),
  PAYLOAD_TOO_LARGE: entry(413, 'The request body is too large'),
  URI_TOO_LONG: entry(414, 'The request target is too long'),
  UNSUPPORTED_MEDIA_TYPE: entry(415, 'The request body must be JSON'),
  IDEMPOTENCY_KEY_REUSED: entry(422, 'The Idempotency-Key was used for another request'),
  HEADERS_TOO_LARGE: entry(431, 'The request headers are too large'),
  REQUEST_CANCELLED: entry(499, 'The client went away before the work was done', true),
  EMPTY_SUMMARY: entry(500, 'The model returned no summary', true),
  INTERNAL_ERROR: entry(500, 'The service failed unexpectedly'),
  MODEL_UNAVAILABLE: entry(502, 'The model endpoint could not be used', true),
  MODEL_AUTH: entry(502, 'The model endpoint refused the configured credentials'),
  MODEL_QUOTA: entry(502, 'The account at the model endpoint is exhausted'),
  MODEL_REJECTED: entry(502, 'The model endpoint rejected the request'),
  CONTEXT_OVERFLOW: entry(502, 'The text does not fit the model, however small the piece'),
  EMPTY_REPLY: entry(502, 'The model returned an empty reply', true),
  REPLY_TRUNCATED: entry(502, 'The reply was cut off inside a tool call'),
  STEP_LIMIT_REACHED: entry(502, 'The turn used up its steps without coming to an answer', true),
  SUMMARY_REFUSED: entry(502, 'The model refused to summarize'),
  SUMMARY_TRUNCATED: entry(502, 'The summary was cut off by the output limit', true),
  SUMMARY_TOO_LONG: entry(502, 'The summary is longer than allowed', true),
  SUMMARY_BUDGET_TOO_SMALL: entry(502, 'The model window leaves no room for text beside the summary'),
  MODEL_NOT_CONFIGURED: entry(503, 'No model is configured for this'),
  MODEL_RATE_LIMITED: entry(503, 'The model endpoint is limiting requests', true),
  STORE_UNAVAILABLE: entry(503, 'The database cannot be used at the moment', true),
  SHUTTING_DOWN: entry(503, 'The service is shutting down', true),
  MODEL_TIMEOUT: entry(504, 'The model endpoint did not answer in time', true),
} as const satisfies Record<string, CatalogueEntry>;

export type ErrorCode = keyof typeof ERROR_CATALOGUE;

/** One failed check of a request: where it is, as an RFC 6901 pointer into that part, and what is wrong. */
export interface FieldError {
  readonly in: 'body' | 'path' | 'query' | 'header';
  readonly pointer: string;
  readonly message: string;
}

export interface AppErrorOptions {
  /** Sent as `Retry-After`, in whole seconds. */
  readonly retryAfterSeconds?: number;
  readonly errors?: readonly FieldError[];
  /** False where this one failure of a kind that passes will not pass. */
  readonly retryable?: boolean;
  /** Further members of the problem document, such as `compaction`. */
  readonly extensions?: Readonly<Record<string, unknown>>;
  readonly cause?: unknown;
}

/** An error of the catalogue. `message` becomes the `detail` that a client reads: no keys, no bodies. */
export class AppError extends Error {
  override readonly name = 'AppError';

  constructor(
    readonly code: ErrorCode,
    detail: string,
    readonly options: AppErrorOptions = {},
  ) {
    super(detail, options.cause === undefined ? undefined : { cause: options.cause });
  }

  get status(): number {
    return ERROR_CATALOGUE[this.code].status;
  }

  get retryable(): boolean {
    return this.options.retryable ?? ERROR_CATALOGUE[this.code].retryable;
  }
}

/** A `VALIDATION_FAILED` error that names one field. */
export function fieldError(where: FieldError['in'], pointer: string, message: string): AppError {
  const subject = pointer === '' ? where : `${where}${pointer}`;
  return new AppError('VALIDATION_FAILED', `${subject} ${message}`, {
    errors: [{ in: where, pointer, message }],
  });
}

/** @param restMs ms until the lease of the turn at work runs out; it may end sooner */
export function sessionBusy(restMs: number): AppError {
  return new AppError('SESSION_BUSY', 'A turn or task runs on the session', {
    retryAfterSeconds: Math.max(1, Math.ceil(restMs / 1_000)),
  });
}
