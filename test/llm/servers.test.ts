import { describe, expect, test } from 'vitest';
import type { RawResponse } from '../support/raw-server.js';
import { answerOf, completed, EVENT_STREAM, events } from './harness.js';

/** Answers as single servers give them, each over a real connection, server by server. */

const sse = (...documents: readonly (string | object)[]): RawResponse => ({
  headers: EVENT_STREAM,
  body: events(
    ...documents.map((document) => (typeof document === 'string' ? document : JSON.stringify(document))),
  ),
});
const json = (document: unknown, status = 200): RawResponse => ({ status, body: JSON.stringify(document) });
const chunk = (delta: object | null, more: object = {}) => ({
  id: 'chatcmpl-1',
  object: 'chat.completion.chunk',
  choices: [{ index: 0, ...(delta === null ? {} : { delta }), ...more }],
});
const USAGE = { prompt_tokens: 12, completion_tokens: 3, total_tokens: 15 };
const COUNTED = { inputTokens: 12, outputTokens: 3 };
const UNCOUNTED = { inputTokens: null, outputTokens: null };
const reply = (text: string, finishReason: string | null = 'stop', more: object = {}) => ({
  ...completed(text, finishReason),
  ...more,
});

describe('a reply', () => {
  test.each<[string, RawResponse, object, object]>([
    [
      'OpenAI: an empty first delta, usage at the end without a choice',
      sse(
        chunk({ role: 'assistant', content: '', refusal: null }),
        chunk({ content: 'Deck A' }),
        chunk({}, { finish_reason: 'stop' }),
        { choices: [], usage: USAGE },
        '[DONE]',
      ),
      reply('Deck A'),
      COUNTED,
    ],
    [
      'OpenAI: a refusal',
      sse(chunk({ content: null, refusal: 'I cannot.' }), chunk({}, { finish_reason: 'stop' }), '[DONE]'),
      reply('', 'stop', { refusal: 'I cannot.' }),
      UNCOUNTED,
    ],
    [
      'OpenAI: everything went into hidden reasoning',
      json({
        choices: [{ index: 0, message: { role: 'assistant', content: '' }, finish_reason: 'length' }],
        usage: { ...USAGE, completion_tokens_details: { reasoning_tokens: 3 } },
      }),
      reply('', 'length'),
      COUNTED,
    ],
    [
      'Azure: filter results first and last, in chunks without choice or delta, and empty ids',
      sse(
        { id: '', model: '', choices: [], prompt_filter_results: [{ prompt_index: 0 }] },
        chunk({ content: 'Deck A' }, { content_filter_results: {} }),
        chunk(null, { content_filter_offsets: { check_offset: 5 }, finish_reason: null }),
        chunk({}, { finish_reason: 'stop' }),
        '[DONE]',
      ),
      reply('Deck A'),
      UNCOUNTED,
    ],
    [
      'Azure: stopped by its filter',
      sse(chunk({ content: 'De' }), chunk({}, { finish_reason: 'content_filter' }), '[DONE]'),
      reply('De', 'content_filter'),
      UNCOUNTED,
    ],
    [
      'OpenRouter: comments while it waits, reasoning twice, another model than asked for',
      {
        headers: EVENT_STREAM,
        body: `: OPENROUTER PROCESSING\n\n: OPENROUTER PROCESSING\n\n${events(
          JSON.stringify({
            ...chunk({
              content: '',
              reasoning: 'hm',
              reasoning_details: [{ type: 'reasoning.text', text: 'hm' }],
            }),
            model: 'vendor/model-b',
          }),
          JSON.stringify(
            chunk({ content: 'Deck A' }, { native_finish_reason: 'end_turn', finish_reason: 'stop' }),
          ),
          JSON.stringify({ choices: [], usage: USAGE }),
          '[DONE]',
        )}`,
      },
      reply('Deck A', 'stop', { model: 'vendor/model-b' }),
      COUNTED,
    ],
    [
      'Ollama: reasoning in its own field, a finish reason of null until the end',
      sse(
        chunk({ role: 'assistant', content: '', reasoning: 'hm' }, { finish_reason: null }),
        chunk({ role: 'assistant', content: 'Deck A' }, { finish_reason: null }),
        chunk({ role: 'assistant', content: '' }, { finish_reason: 'stop' }),
        '[DONE]',
      ),
      reply('Deck A'),
      UNCOUNTED,
    ],
    [
      'Ollama: a complete reply whose finish reason is null',
      json({ choices: [{ index: 0, message: { content: 'Deck A' }, finish_reason: null }], usage: USAGE }),
      reply('Deck A', null),
      COUNTED,
    ],
    [
      'llama.cpp: reasoning_content, timings beside the usage',
      sse(
        chunk({ role: 'assistant', content: null }),
        chunk({ reasoning_content: 'hm' }),
        chunk({ content: 'Deck A' }),
        chunk({}, { finish_reason: 'stop' }),
        { choices: [], usage: USAGE, timings: { predicted_per_second: 3.5 } },
        '[DONE]',
      ),
      reply('Deck A'),
      COUNTED,
    ],
    [
      'vLLM: usage in every chunk, which counts once',
      sse(
        { ...chunk({ role: 'assistant', content: '' }), usage: { prompt_tokens: 12, completion_tokens: 0 } },
        { ...chunk({ content: 'Deck' }), usage: { prompt_tokens: 12, completion_tokens: 1 } },
        { ...chunk({ content: ' A' }, { finish_reason: 'stop', stop_reason: null }), usage: USAGE },
        '[DONE]',
      ),
      reply('Deck A'),
      COUNTED,
    ],
    [
      'LM Studio: nothing at all, in good form, when the prompt does not fit: the caller judges',
      sse(chunk({ role: 'assistant' }), chunk({}, { finish_reason: 'stop' }), '[DONE]'),
      reply(''),
      UNCOUNTED,
    ],
    [
      'LiteLLM: tool calls with the finish reason stop',
      json({
        choices: [
          {
            index: 0,
            message: {
              content: null,
              tool_calls: [{ id: 'a', type: 'function', function: { name: 'f', arguments: '{}' } }],
              provider_specific_fields: {},
            },
            finish_reason: 'stop',
          },
        ],
      }),
      reply('', 'stop', { toolCalls: [{ id: 'a', name: 'f', arguments: '{}' }] }),
      UNCOUNTED,
    ],
    [
      'Groq: usage in a field of its own',
      sse(
        { ...chunk({ role: 'assistant', content: '' }), x_groq: { id: 'req_1' } },
        chunk({ content: 'Deck A' }),
        { ...chunk({}, { finish_reason: 'stop' }), x_groq: { id: 'req_1', usage: USAGE } },
        '[DONE]',
      ),
      reply('Deck A'),
      COUNTED,
    ],
    [
      'Mistral: content in parts, some of them thinking',
      sse(
        chunk({ content: [{ type: 'thinking', thinking: [{ type: 'text', text: 'hm' }] }] }),
        chunk({
          content: [
            { type: 'reasoning', text: 'hm' },
            { type: 'text', text: 'Deck ' },
          ],
        }),
        chunk({ content: 'A' }, { finish_reason: 'stop' }),
        '[DONE]',
      ),
      reply('Deck A'),
      UNCOUNTED,
    ],
    [
      'DeepSeek: blank lines before a JSON reply',
      {
        body: `\n\n\n\n${JSON.stringify({
          choices: [
            { index: 0, message: { content: 'Deck A', reasoning_content: 'hm' }, finish_reason: 'stop' },
          ],
          usage: { ...USAGE, prompt_cache_hit_tokens: 0 },
        })}`,
      },
      reply('Deck A'),
      COUNTED,
    ],
    [
      'DeepSeek: comments in a stream',
      {
        headers: EVENT_STREAM,
        body: `: keep-alive\n\n: keep-alive\n\n${events(JSON.stringify(chunk({ content: 'Deck A' }, { finish_reason: 'stop' })), '[DONE]')}`,
      },
      reply('Deck A'),
      UNCOUNTED,
    ],
    [
      'Gemini: a whole tool call without an index in one chunk, the finish reason stop, no [DONE]',
      sse(
        chunk(
          {
            role: 'assistant',
            tool_calls: [
              { id: 'x', type: 'function', function: { name: 'f', arguments: '{"a":1}' }, extra_content: {} },
            ],
          },
          { finish_reason: 'stop' },
        ),
      ),
      reply('', 'stop', { toolCalls: [{ id: 'x', name: 'f', arguments: '{"a":1}' }] }),
      UNCOUNTED,
    ],
    [
      'Moonshot: usage inside the choice',
      sse(chunk({ content: 'Deck A' }), chunk({}, { finish_reason: 'stop', usage: USAGE }), '[DONE]'),
      reply('Deck A'),
      COUNTED,
    ],
    [
      'Portkey: usage of zeros says nothing',
      sse(chunk({ content: 'Deck A' }, { finish_reason: 'stop' }), {
        choices: [],
        usage: { prompt_tokens: 0, completion_tokens: 0, total_tokens: 0 },
      }),
      reply('Deck A'),
      UNCOUNTED,
    ],
    ...['end', 'eos', 'end_turn', 'stop_sequence', 'something_new'].map(
      (reason): [string, RawResponse, object, object] => [
        `others: the finish reason ${reason}`,
        sse(chunk({ content: 'Deck A' }, { finish_reason: reason }), '[DONE]'),
        reply('Deck A', reason),
        UNCOUNTED,
      ],
    ),
  ])('%s', async (_name, response, outcome, usage) => {
    expect(await answerOf(response)).toEqual({ outcome, usage, requests: 1 });
  });
});

describe('a failure', () => {
  const said = (text: string) => `The model endpoint reported an error: ${text}`;
  const answered = (status: number, text: string) => `The model endpoint answered ${status}: ${text}`;

  test.each<[string, RawResponse, object]>([
    [
      'OpenAI: an account that is used up',
      json(
        {
          error: {
            message: 'You exceeded your current quota',
            type: 'insufficient_quota',
            code: 'insufficient_quota',
          },
        },
        429,
      ),
      { kind: 'quota', status: 429 },
    ],
    [
      'Azure: a prompt that its filter refuses',
      json(
        {
          error: {
            message: 'filtered',
            code: 'content_filter',
            status: 400,
            innererror: { code: 'ResponsibleAIPolicyViolation' },
          },
        },
        400,
      ),
      { kind: 'policy', status: 400 },
    ],
    [
      'Azure: a missing api-version',
      json({ error: { code: '404', message: 'Resource not found' } }, 404),
      { kind: 'bad_request', status: 404 },
    ],
    [
      'OpenRouter: the upstream failed after the 200',
      json({
        error: {
          code: 502,
          message: 'Provider returned error',
          metadata: { raw: '{"error":"boom"}', provider_name: 'X' },
        },
      }),
      { kind: 'unavailable', message: said('boom') },
    ],
    [
      'OpenRouter: the upstream failed in the middle of the stream',
      sse(chunk({ content: 'De' }), {
        ...chunk({ content: '' }, { finish_reason: 'error' }),
        error: { code: 502, message: 'lost' },
      }),
      { kind: 'unavailable', message: said('lost') },
    ],
    [
      'OpenRouter: moderation, inside a stream',
      sse({ error: { code: 403, message: 'Input was flagged by moderation' } }),
      { kind: 'policy', status: 200 },
    ],
    [
      'Ollama: an empty chunk, and then nothing more',
      sse(
        chunk({ role: 'assistant', content: 'De' }),
        chunk({ role: 'assistant', content: '' }, { finish_reason: null }),
      ),
      { kind: 'incomplete', status: 200 },
    ],
    [
      'Ollama: an error as text',
      json({ error: 'model "x" not found, try pulling it first' }, 404),
      { kind: 'bad_request' },
    ],
    [
      'llama.cpp: an error line in an older stream',
      {
        headers: EVENT_STREAM,
        body: `${events(JSON.stringify(chunk({ content: 'De' })))}error: {"code":500,"message":"Context size has been exceeded.","type":"server_error"}\n\n`,
      },
      { kind: 'overflow', message: said('Context size has been exceeded.') },
    ],
    [
      'llama.cpp: an overflow as one event of a 200',
      sse({
        error: {
          code: 400,
          message: 'too large',
          type: 'exceed_context_size_error',
          n_prompt_tokens: 5_000,
          n_ctx: 4_096,
        },
      }),
      { kind: 'overflow', windowTokens: 4_096, requestedTokens: 5_000 },
    ],
    [
      'llama.cpp: a template that wants turns to alternate, as a 500',
      json(
        {
          error: {
            code: 500,
            message: 'Jinja Exception: Conversation roles must alternate user/assistant',
            type: 'server_error',
          },
        },
        500,
      ),
      { kind: 'bad_request', status: 500 },
    ],
    [
      'vLLM: an error in the middle of the stream',
      sse(
        chunk({ content: 'De' }),
        { error: { message: 'engine died', type: 'InternalServerError', code: 500 } },
        '[DONE]',
      ),
      { kind: 'unavailable', message: said('engine died') },
    ],
    [
      'LM Studio: an error event with the overflow',
      {
        headers: EVENT_STREAM,
        body: 'event: error\ndata: {"error":{"message":"Trying to keep the first 9000 tokens when context the overflows. However, the model is loaded with context length of only 4096 tokens"}}\n\n',
      },
      { kind: 'overflow', windowTokens: 4_096, requestedTokens: 9_000 },
    ],
    [
      'LM Studio: an unknown address, as a 200',
      json({ error: 'Unexpected endpoint or method. (POST /chat/completions)' }),
      { kind: 'unavailable', message: said('Unexpected endpoint or method. (POST /chat/completions)') },
    ],
    [
      'LiteLLM: a document inside a string, and a status as text',
      json({ error: { message: `litellm.BadRequestError: x`, type: null, param: null, code: '400' } }, 400),
      { kind: 'bad_request', message: answered(400, 'litellm.BadRequestError: x') },
    ],
    [
      'Groq: more than a minute allows',
      json(
        {
          error: {
            message: 'Request too large for model `x` on tokens per minute (TPM): Limit 6000, Requested 7200',
            type: 'tokens',
            code: 'rate_limit_exceeded',
          },
        },
        413,
      ),
      { kind: 'bad_request', status: 413 },
    ],
    [
      'Groq: a tool call that it could not read',
      json(
        {
          error: {
            message: 'Failed to call a function.',
            type: 'invalid_request_error',
            code: 'tool_use_failed',
            failed_generation: '<f>',
          },
        },
        400,
      ),
      { kind: 'bad_request', status: 400 },
    ],
    [
      'Groq: no capacity',
      json({ error: { message: 'capacity_exceeded' } }, 498),
      { kind: 'unavailable', status: 498 },
    ],
    [
      'Mistral: a message that is an object',
      json(
        {
          object: 'error',
          message: {
            detail: [{ type: 'missing', loc: ['body', 'messages', 0, 'content'], msg: 'Field required' }],
          },
          type: 'invalid_request_error',
          code: null,
        },
        422,
      ),
      { kind: 'bad_request', message: answered(422, 'body.messages.0.content: Field required') },
    ],
    [
      'Mistral: no capacity in this tier',
      json({ object: 'error', message: 'Service tier capacity exceeded for this model.', code: '3505' }, 429),
      { kind: 'rate_limited', retryAfterMs: null },
    ],
    [
      'DeepSeek: no resources left in the middle of the reply',
      sse(chunk({ content: 'De' }), chunk({}, { finish_reason: 'insufficient_system_resource' }), '[DONE]'),
      { kind: 'unavailable' },
    ],
    ['DeepSeek: no money left', json({ error: { message: 'Insufficient Balance' } }, 402), { kind: 'quota' }],
    [
      'Gemini: a list with the delay inside',
      json(
        [
          {
            error: {
              code: 429,
              message: 'You exceeded your current quota',
              status: 'RESOURCE_EXHAUSTED',
              details: [{ '@type': 'type.googleapis.com/google.rpc.RetryInfo', retryDelay: '26s' }],
            },
          },
        ],
        429,
      ),
      { kind: 'rate_limited', retryAfterMs: 26_000 },
    ],
    [
      'xAI: an error that is a text, beside a code',
      json(
        {
          code: 'Client specified an invalid argument',
          error: 'Model grok does not support parameter presencePenalty.',
        },
        400,
      ),
      { kind: 'bad_request', param: 'presence_penalty' },
    ],
    [
      'Anthropic: overloaded',
      json(
        { type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' }, request_id: 'r' },
        529,
      ),
      { kind: 'unavailable', status: 529 },
    ],
    [
      'Together: a validation of the prompt',
      json(
        {
          error: {
            message:
              'Input validation error: `inputs` tokens + `max_new_tokens` must be <= 4097. Given: 5000 `inputs` tokens and 0 `max_new_tokens`',
          },
        },
        422,
      ),
      { kind: 'overflow', windowTokens: 4_097 },
    ],
    [
      'Fireworks: a prompt that is too long, with a word in the wrong field',
      json(
        {
          error: {
            object: 'error',
            type: 'invalid_request_error',
            code: 'invalid_request_error',
            param: 'invalid_request_error',
            message: 'The prompt is too long: 140000, model maximum context length: 131071',
          },
        },
        400,
      ),
      { kind: 'overflow', windowTokens: 131_071, requestedTokens: 140_000 },
    ],
    [
      'Cerebras: a prompt that is too long, without a word',
      { status: 413 },
      { kind: 'overflow', windowTokens: null },
    ],
    [
      'z.ai: a full window as the finish reason',
      sse(chunk({ content: 'De' }, { finish_reason: 'model_context_window_exceeded' }), '[DONE]'),
      { kind: 'overflow' },
    ],
    [
      'z.ai: a lost connection as the finish reason',
      sse(chunk({}, { finish_reason: 'network_error' })),
      { kind: 'unavailable' },
    ],
    [
      'Scaleway: too many at once',
      {
        ...json({ status: 429, error: 'INSUFFICIENT QUOTA', message: 'Too many concurrent requests' }, 429),
        headers: { 'retry-after': '3' },
      },
      { kind: 'rate_limited', retryAfterMs: 3_000 },
    ],
    [
      'Portkey: a failure of its own',
      json({ status: 'failure', message: 'no provider' }, 400),
      { kind: 'bad_request', message: answered(400, 'no provider') },
    ],
    [
      'Portkey: a failure of its own, as HTML',
      json({ 'html-message': '<b>no</b> provider' }, 500),
      { kind: 'unavailable', message: answered(500, 'no provider') },
    ],
    [
      'Cloudflare: its page, with the address of the client',
      {
        status: 524,
        headers: { 'content-type': 'text/html' },
        body: '<!DOCTYPE html><html><head><title>api | 524</title></head><body><h1>A timeout occurred</h1></body></html>',
      },
      { kind: 'unavailable', message: answered(524, 'A timeout occurred') },
    ],
    [
      'a proxy: an empty page without a type',
      { status: 502, headers: { 'content-type': '' } },
      { kind: 'unavailable', message: 'The model endpoint answered 502' },
    ],
    ...[408, 409, 425, 499, 500, 503, 504, 520, 521, 522, 523].map(
      (status): [string, RawResponse, object] => [
        `others: ${status}`,
        { status },
        { kind: 'unavailable', status },
      ],
    ),
  ])('%s', async (_name, response, outcome) => {
    expect(await answerOf(response)).toMatchObject({ outcome, requests: 1 });
  });
});
