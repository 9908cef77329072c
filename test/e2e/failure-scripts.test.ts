import { describe, expect, it } from 'vitest';
import { turns } from '../support/messages.js';
import { OVERFLOW, type StubReply, startModelStub } from '../support/model-stub.js';
import { modelAt, startService } from '../support/service.js';

const error = (status: number, message: string, more: object = {}): StubReply => ({
  status,
  body: { error: { message, ...more } },
});

interface Script {
  readonly name: string;
  /** What the endpoint answers to each request; the last one from then on. */
  readonly replies: readonly StubReply[];
  readonly requests: number;
  readonly status: number;
  readonly code: string;
  /** Tokens that the record must show. */
  readonly usage?: readonly [number | null, number | null];
  readonly variables?: Record<string, string>;
  readonly retryAfter?: string;
}

const NONE = [null, null] as const;
const USED = [100, 10] as const;
const RETRIES = { COMPACT_RETRIES: '1' };
/** The message as the endpoint wraps it when it holds an error in a 200. */
const IN_BAND: StubReply = { body: { error: { message: 'Provider returned error', code: 502 } } };

const SCRIPTS: readonly Script[] = [
  {
    name: 'an empty reply',
    replies: [{ content: '' }],
    requests: 1,
    status: 500,
    code: 'EMPTY_SUMMARY',
    usage: USED,
  },
  {
    name: 'white space',
    replies: [{ content: ' \n' }],
    requests: 1,
    status: 500,
    code: 'EMPTY_SUMMARY',
    usage: USED,
  },
  {
    name: 'null',
    replies: [{ content: null }],
    requests: 1,
    status: 500,
    code: 'EMPTY_SUMMARY',
    usage: USED,
  },
  {
    name: 'thinking only',
    replies: [{ content: '<think>hm' }],
    requests: 1,
    status: 500,
    code: 'EMPTY_SUMMARY',
    usage: USED,
  },
  {
    name: 'a tool call',
    replies: [
      {
        content: null,
        finish: 'tool_calls',
        message: { tool_calls: [{ id: 'c', type: 'function', function: { name: 'f', arguments: '{}' } }] },
      },
    ],
    requests: 1,
    status: 500,
    code: 'EMPTY_SUMMARY',
    usage: USED,
  },
  {
    name: 'a cut reply',
    replies: [{ content: 'The ferry leaves at ni', finish: 'length' }],
    requests: 1,
    status: 502,
    code: 'SUMMARY_TRUNCATED',
    usage: USED,
  },
  {
    name: 'a cut reply, twice, with a cap',
    replies: [{ content: 'The ferry', finish: 'length' }],
    requests: 2,
    status: 502,
    code: 'SUMMARY_TRUNCATED',
    usage: [200, 20],
    variables: { COMPACT_MAX_OUTPUT_TOKENS: '50' },
  },
  {
    name: 'a refusal',
    replies: [{ content: null, message: { refusal: 'No.' } }],
    requests: 1,
    status: 502,
    code: 'SUMMARY_REFUSED',
    usage: USED,
  },
  {
    name: 'a filter stop',
    replies: [{ content: '', finish: 'content_filter' }],
    requests: 1,
    status: 502,
    code: 'SUMMARY_REFUSED',
    usage: USED,
  },
  {
    name: 'a summary that is too long, twice',
    replies: [{ content: 'x'.repeat(5_000) }],
    requests: 2,
    status: 502,
    code: 'SUMMARY_TOO_LONG',
    usage: [200, 20],
  },
  {
    name: 'a prompt that is always too long',
    replies: [OVERFLOW],
    requests: 2,
    status: 502,
    code: 'CONTEXT_OVERFLOW',
    usage: NONE,
  },
  {
    name: 'a wrong key',
    replies: [error(401, 'Incorrect API key')],
    requests: 1,
    status: 502,
    code: 'MODEL_AUTH',
    usage: NONE,
    variables: RETRIES,
  },
  {
    name: 'no money',
    replies: [error(402, 'Insufficient balance')],
    requests: 1,
    status: 502,
    code: 'MODEL_QUOTA',
    usage: NONE,
    variables: RETRIES,
  },
  {
    name: 'an unknown model',
    replies: [error(404, 'The model does not exist')],
    requests: 1,
    status: 502,
    code: 'MODEL_REJECTED',
    usage: NONE,
    variables: RETRIES,
  },
  {
    name: 'a request that is wrong',
    replies: [error(400, 'Invalid request')],
    requests: 1,
    status: 502,
    code: 'MODEL_REJECTED',
    usage: NONE,
    variables: RETRIES,
  },
  {
    name: 'a long rate limit',
    replies: [{ ...error(429, 'Slow down'), headers: { 'retry-after': '120' } }],
    requests: 1,
    status: 503,
    code: 'MODEL_RATE_LIMITED',
    usage: NONE,
    variables: RETRIES,
    retryAfter: '120',
  },
  {
    name: 'failures without end',
    replies: [error(503, 'Busy')],
    requests: 2,
    status: 502,
    code: 'MODEL_UNAVAILABLE',
    usage: NONE,
    variables: RETRIES,
  },
  {
    name: 'errors inside a 200',
    replies: [IN_BAND],
    requests: 2,
    status: 502,
    code: 'MODEL_UNAVAILABLE',
    usage: NONE,
    variables: RETRIES,
  },
  {
    name: 'a page of HTML',
    replies: [{ body: '<html>Bad gateway</html>', headers: { 'content-type': 'text/html' } }],
    requests: 2,
    status: 502,
    code: 'MODEL_UNAVAILABLE',
    usage: NONE,
    variables: RETRIES,
  },
  {
    name: 'silence',
    replies: [{ hang: true }],
    requests: 1,
    status: 504,
    code: 'MODEL_TIMEOUT',
    usage: NONE,
    variables: { ...RETRIES, COMPACT_FIRST_BYTE_TIMEOUT_MS: '300' },
  },
  {
    name: 'a failure that used tokens, then an empty reply',
    replies: [
      {
        status: 503,
        body: { error: { message: 'Busy' }, usage: { prompt_tokens: 30, completion_tokens: 3 } },
      },
      { content: '' },
    ],
    requests: 2,
    status: 500,
    code: 'EMPTY_SUMMARY',
    usage: [130, 13],
    variables: RETRIES,
  },
];

describe('an endpoint that gives', () => {
  it.each(SCRIPTS)(
    '$name',
    async ({ replies, requests, status, code, usage = NONE, variables = {}, retryAfter }) => {
      let healthy = false;
      const stub = await startModelStub((_, index) =>
        healthy ? { content: 'S1' } : (replies[Math.min(index, replies.length - 1)] ?? {}),
      );
      const service = await startService(modelAt(stub.url, variables));
      const messages = turns(10, 100);
      const id = await service.session(messages);
      const before = await service.call('GET', `/sessions/${id}`);

      const failed = await service.compact(id);
      expect([failed.status, failed.body.code, stub.prompts.length]).toEqual([status, code, requests]);
      if (retryAfter !== undefined) expect(failed.headers['retry-after']).toBe(retryAfter);
      expect((await service.call('GET', `/sessions/${id}`)).body).toEqual(before.body);
      expect(await service.messages(id)).toEqual(messages);
      const [record] = (await service.call('GET', `/sessions/${id}/compactions`)).body.data;
      expect(record).toMatchObject({
        outcome: 'failed',
        error_code: code,
        requests,
        usage: { input_tokens: usage[0], output_tokens: usage[1] },
        summary: null,
        to_size: 0,
      });
      expect(failed.body.compaction).toEqual({ id: record?.id, from_size: 0, to_size: 0, outcome: 'failed' });

      healthy = true;
      expect((await service.compact(id)).body).toMatchObject({
        compactedCount: 5,
        newSize: 5,
        session: { compact_summary: 'S1' },
      });
    },
  );
});
