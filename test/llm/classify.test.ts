import { describe, expect, test } from 'vitest';
import { classify } from '../../src/llm/classify.js';
import { readErrorBody } from '../../src/llm/error-facts.js';
import type { Failure } from '../../src/llm/outcome.js';
import { createCleaner } from '../../src/llm/redact.js';

const clean = createCleaner(['the-endpoint-key']);

function classified(
  httpStatus: number,
  body: unknown,
  headers: Record<string, string> = {},
  url = 'http://h/v1/chat/completions?k=1',
): Failure {
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  return classify({ httpStatus, headers, facts: readErrorBody(text), url: new URL(url), clean });
}

const openAi = (
  message: string,
  code: string | null = null,
  type: string | null = 'invalid_request_error',
) => ({
  error: { message, type, param: null, code },
});

describe('a prompt that does not fit the window', () => {
  test.each<[string, number, unknown, number | null, number | null]>([
    [
      'OpenAI',
      400,
      openAi(
        "This model's maximum context length is 8192 tokens. However, your messages resulted in 10001 tokens. Please reduce the length of the messages.",
        'context_length_exceeded',
      ),
      8_192,
      10_001,
    ],
    [
      'OpenAI with completion',
      400,
      openAi(
        "This model's maximum context length is 4097 tokens. However, you requested 5360 tokens (1360 in the messages, 4000 in the completion).",
      ),
      4_097,
      5_360,
    ],
    [
      'OpenAI, later',
      400,
      openAi(
        'Input tokens exceed the configured limit of 272000 tokens. Your messages resulted in 300123 tokens.',
      ),
      272_000,
      300_123,
    ],
    [
      'OpenAI, by code only',
      400,
      openAi('Your input exceeds the context window of this model.', 'context_length_exceeded'),
      null,
      null,
    ],
    [
      'vLLM, old',
      400,
      {
        object: 'error',
        message:
          "This model's maximum context length is 4096 tokens. However, you requested 5000 tokens (4500 in the messages, 500 in the completion).",
        type: 'BadRequestError',
        param: null,
        code: 400,
      },
      4_096,
      5_000,
    ],
    [
      'vLLM, new',
      400,
      {
        error: {
          message:
            "'max_tokens' or 'max_completion_tokens' is too large: 1000. This model's maximum context length is 4096 tokens and your request has 3500 input tokens (1000 > 4096 - 3500).",
          type: 'BadRequestError',
          code: 400,
        },
      },
      4_096,
      4_500,
    ],
    ['vLLM, no room left', 400, openAi('max_tokens must be at least 1, got -312.'), null, null],
    [
      'SGLang',
      400,
      openAi("The input (9000 tokens) is longer than the model's context length (8192 tokens)."),
      null,
      null,
    ],
    [
      'SGLang total',
      400,
      openAi("Requested token count exceeds the model's maximum context length of 8192 tokens."),
      null,
      null,
    ],
    [
      'llama.cpp',
      400,
      {
        error: {
          code: 400,
          message: 'the request exceeds the available context size, try increasing it',
          type: 'exceed_context_size_error',
          n_prompt_tokens: 5_001,
          n_ctx: 4_096,
        },
      },
      4_096,
      5_001,
    ],
    [
      'llama.cpp, sizes in the text',
      400,
      openAi('request (5001 tokens) exceeds the available context size (4096 tokens), try increasing it'),
      4_096,
      5_001,
    ],
    [
      'llama.cpp, older',
      500,
      { error: { code: 500, message: 'Context size has been exceeded.', type: 'server_error' } },
      null,
      null,
    ],
    [
      'LM Studio',
      400,
      {
        error:
          'Trying to keep the first 9000 tokens when context the overflows. However, the model is loaded with context length of only 4096 tokens, which is not enough.',
      },
      4_096,
      9_000,
    ],
    [
      'LM Studio, prompt',
      400,
      { error: 'The number of tokens to keep is greater than the context length' },
      null,
      null,
    ],
    ['Ollama', 500, { error: 'the input length exceeds the context length' }, null, null],
    [
      'Anthropic',
      400,
      {
        type: 'error',
        error: {
          type: 'invalid_request_error',
          message: 'prompt is too long: 213462 tokens > 200000 maximum',
        },
      },
      200_000,
      213_462,
    ],
    [
      'Anthropic with output',
      400,
      openAi(
        'input length and `max_tokens` exceed context limit: 190000 + 21333 > 200000, decrease input length',
      ),
      200_000,
      211_333,
    ],
    [
      'Anthropic, bytes',
      413,
      { type: 'error', error: { type: 'request_too_large', message: 'Request exceeds the maximum size' } },
      null,
      null,
    ],
    ['Bedrock', 400, { message: 'ValidationException: Input is too long for requested model.' }, null, null],
    [
      'Gemini',
      400,
      [
        {
          error: {
            code: 400,
            message:
              'The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).',
            status: 'INVALID_ARGUMENT',
          },
        },
      ],
      1_048_576,
      1_200_000,
    ],
    [
      'OpenRouter',
      400,
      {
        error: {
          code: 400,
          message:
            "This endpoint's maximum context length is 131072 tokens. However, you requested about 140000 tokens (140000 of text input).",
        },
      },
      131_072,
      140_000,
    ],
    [
      'OpenRouter, upstream text',
      400,
      {
        error: {
          code: 400,
          message: 'Provider returned error',
          metadata: {
            provider_name: 'X',
            raw: JSON.stringify({ error: { message: 'prompt is too long: 9 tokens > 8 maximum' } }),
          },
        },
      },
      8,
      9,
    ],
    [
      'Mistral',
      400,
      {
        object: 'error',
        message:
          'Prompt contains 40960 tokens and 0 draft tokens, too large for model with 32768 maximum context length',
        type: 'invalid_request_prompt',
        code: '3051',
      },
      32_768,
      40_960,
    ],
    [
      'Groq',
      400,
      openAi('Please reduce the length of the messages or completion.', 'context_length_exceeded'),
      null,
      null,
    ],
    [
      'xAI',
      400,
      {
        code: 'Client specified an invalid argument',
        error: "This model's maximum prompt length is 131072 but the request contains 140123 tokens.",
      },
      131_072,
      140_123,
    ],
    [
      'DeepSeek',
      400,
      openAi("This model's maximum context length is 65536 tokens. However, you requested 70000 tokens."),
      65_536,
      70_000,
    ],
    [
      'Fireworks',
      400,
      openAi('The prompt is too long: 140000, model maximum context length: 131071'),
      131_071,
      140_000,
    ],
    [
      'TGI',
      422,
      {
        error:
          'Input validation error: `inputs` tokens + `max_new_tokens` must be <= 4096. Given: 4000 `inputs` tokens and 500 `max_new_tokens`',
        error_type: 'validation',
      },
      4_096,
      4_500,
    ],
    [
      'Cerebras',
      400,
      { message: 'Please reduce the length. Current length is 9001 while limit is 8192' },
      8_192,
      9_001,
    ],
    ['any 413 without a word', 413, '', null, null],
    ['any 413 as HTML', 413, '<html><body>413 Request Entity Too Large</body></html>', null, null],
    [
      'Kimi',
      400,
      openAi('Invalid request: Your request exceeded model token limit: 262144 (requested: 262999)'),
      262_144,
      262_999,
    ],
    ['MiniMax', 400, openAi('invalid params, context window exceeds limit (2013)'), null, null],
    ['Copilot', 400, openAi('prompt token count of 70000 exceeds the limit of 64000'), 64_000, 70_000],
    [
      'LiteLLM',
      400,
      {
        error: {
          message:
            'litellm.ContextWindowExceededError: litellm.BadRequestError: ContextWindowExceededError: OpenAIException - too long',
          type: null,
          param: null,
          code: '400',
        },
      },
      null,
      null,
    ],
    ['generic', 400, { detail: 'Token limit exceeded' }, null, null],
    [
      'generic, list of details',
      422,
      { detail: [{ loc: ['body'], msg: 'too many tokens', type: 'x' }] },
      null,
      null,
    ],
    [
      'thousands separators',
      400,
      openAi('maximum context length is 128,000 tokens, you requested 130,500 tokens'),
      128_000,
      130_500,
    ],
    [
      'llama.cpp, newer, with a 500',
      500,
      { error: { code: 500, message: 'x', type: 'exceed_context_size_error', n_prompt_tokens: 9, n_ctx: 8 } },
      8,
      9,
    ],
    [
      'a Python client of another server',
      400,
      openAi(
        `Error code: 400 - {'error': {'message': "This model's maximum context length is 4096 tokens. However, you requested 5000 tokens", 'code': 400}}`,
      ),
      4_096,
      5_000,
    ],
    [
      'no size of a quoted prompt',
      400,
      openAi('prompt is too long: "the maximum context length is 50 tokens, you requested 60 tokens"'),
      null,
      null,
    ],
    ['in a 200', 200, { error: { message: 'Context size has been exceeded.' } }, null, null],
    [
      'in a 200, with a status',
      200,
      { error: { code: 400, message: 'context length exceeded' } },
      null,
      null,
    ],
  ])('%s', (_name, status, body, windowTokens, requestedTokens) => {
    expect(classified(status, body)).toMatchObject({
      kind: 'overflow',
      status,
      windowTokens,
      requestedTokens,
    });
  });

  test('an empty 400 means it at Cerebras only', () => {
    expect(classified(400, '', {}, 'https://api.cerebras.ai/v1/chat/completions').kind).toBe('overflow');
    expect(classified(400, '', {}, 'https://notcerebras.ai/v1/chat/completions').kind).toBe('bad_request');
  });
});

describe('what looks like it and is not', () => {
  const tpm =
    'Request too large for model `llama` in organization `org` service tier `on_demand` on tokens per minute (TPM): Limit 6000, Requested 7200, please reduce your message size and try again.';

  test.each<[string, number, unknown, Failure['kind']]>([
    ['more than a minute allows, 413', 413, openAi(tpm, 'rate_limit_exceeded', 'tokens'), 'bad_request'],
    ['more than a minute allows, 429', 429, openAi(tpm, 'rate_limit_exceeded', 'tokens'), 'bad_request'],
    [
      'a minute that is used up',
      429,
      openAi(
        'Rate limit reached on tokens per minute (TPM): Limit 6000, Used 5800, Requested 900. Please try again in 7s',
        'rate_limit_exceeded',
        'tokens',
      ),
      'rate_limited',
    ],
    [
      'a field that is too long',
      400,
      openAi(
        "Invalid 'user': string too long. Expected a string with maximum length 64.",
        'string_above_max_length',
      ),
      'bad_request',
    ],
    [
      'a cap above the model limit',
      400,
      openAi(
        'max_tokens is too large: 100000. This model supports at most 16384 completion tokens.',
        'invalid_value',
      ),
      'bad_request',
    ],
    [
      'a cap above the whole window',
      400,
      openAi(
        "'max_tokens' or 'max_completion_tokens' is too large: 9000. This model's maximum context length is 4096 tokens and your request has 35 input tokens (9000 > 4096 - 35).",
      ),
      'bad_request',
    ],
    [
      '429 in a quoted prompt',
      400,
      openAi('Invalid message: "429 too many requests, insufficient_quota"'),
      'bad_request',
    ],
    [
      'a quoted prompt in a 500',
      500,
      openAi('internal failure at: "user asked about maximum context length is 4096 tokens"'),
      'unavailable',
    ],
    [
      'a prompt in a 500, not quoted',
      500,
      openAi('worker crashed while handling: user: why does vLLM say maximum context length is 50 tokens?'),
      'unavailable',
    ],
    ['a 500 that begins like OpenAI', 500, openAi('maximum context length is 50 tokens'), 'unavailable'],
    [
      'llama.cpp words in the middle of a 500',
      500,
      openAi('failed: the request exceeds the available context size'),
      'unavailable',
    ],
    [
      'a 500 inside a 200',
      200,
      { error: { code: 500, message: 'crashed: prompt is too long' } },
      'unavailable',
    ],
    [
      'a quoted prompt in a 400',
      400,
      openAi('Invalid field: "user asked about maximum context length is 4096 tokens"'),
      'bad_request',
    ],
    [
      'a conversation in a 400',
      400,
      openAi('cannot parse {"role": 1, "content": why does it say the prompt is too long?}'),
      'bad_request',
    ],
    ['a long way into a 400', 400, openAi(`no: ${'x '.repeat(100)}prompt is too long`), 'bad_request'],
    ['window words in a 500', 500, openAi('the context window manager crashed'), 'unavailable'],
    ['window words in a 429', 429, openAi('too many tokens, slow down'), 'rate_limited'],
    ['window words in a 404', 404, openAi('context length exceeded'), 'bad_request'],
  ])('%s', (_name, status, body, kind) => {
    expect(classified(status, body).kind).toBe(kind);
  });
});

describe('limits, quota, overload', () => {
  const quota = 'You exceeded your current quota, please check your plan and billing details.';
  const gemini = (quotaId: string, retryDelay?: string) => [
    {
      error: {
        code: 429,
        message: quota,
        status: 'RESOURCE_EXHAUSTED',
        details: [
          { '@type': 'type.googleapis.com/google.rpc.QuotaFailure', violations: [{ quotaId }] },
          ...(retryDelay === undefined
            ? []
            : [{ '@type': 'type.googleapis.com/google.rpc.RetryInfo', retryDelay }]),
        ],
      },
    },
  ];

  test.each<[string, number, unknown, Record<string, string>, Failure['kind'], number | null | undefined]>([
    ['plain 429', 429, openAi('Rate limit reached'), {}, 'rate_limited', null],
    ['429 without a body', 429, '', { 'retry-after': '2' }, 'rate_limited', 2_000],
    ['429 with the delay in the text', 429, openAi('Please try again in 4.77s.'), {}, 'rate_limited', 4_770],
    ['OpenAI quota', 429, openAi(quota, 'insufficient_quota', 'insufficient_quota'), {}, 'quota', undefined],
    [
      'OpenAI quota with a reset header',
      429,
      openAi(quota, 'insufficient_quota'),
      { 'x-ratelimit-reset-requests': '1s' },
      'quota',
      undefined,
    ],
    ['quota wording with a long delay', 429, openAi(quota), { 'retry-after': '3600' }, 'quota', undefined],
    [
      'Gemini per minute',
      429,
      gemini('GenerateRequestsPerMinutePerProject', '26s'),
      {},
      'rate_limited',
      26_000,
    ],
    [
      'Gemini per day, with a delay',
      429,
      gemini('GenerateRequestsPerDayPerProjectPerModel-FreeTier', '26s'),
      {},
      'quota',
      undefined,
    ],
    ['Gemini without a delay', 429, gemini('x'), {}, 'quota', undefined],
    [
      'OpenRouter free models per day',
      429,
      { error: { code: 429, message: 'Rate limit exceeded: free-models-per-day.' } },
      { 'retry-after': '5' },
      'quota',
      undefined,
    ],
    [
      'Scaleway concurrency',
      429,
      { status: 429, error: 'INSUFFICIENT QUOTA', message: 'Too many concurrent requests' },
      { 'retry-after': '3' },
      'rate_limited',
      3_000,
    ],
    [
      'Scaleway without a delay',
      429,
      { status: 429, error: 'INSUFFICIENT QUOTA', message: 'Too many' },
      {},
      'quota',
      undefined,
    ],
    [
      'Mistral capacity',
      429,
      { message: 'Service tier capacity exceeded for this model.', type: 'service_tier_capacity_exceeded' },
      {},
      'rate_limited',
      null,
    ],
    ['402', 402, openAi('Insufficient Balance'), {}, 'quota', undefined],
    [
      '402 while others run',
      402,
      { error: { code: 'in_flight_budget_exhausted', message: 'x' } },
      {},
      'rate_limited',
      null,
    ],
    ['408', 408, '', {}, 'unavailable', null],
    ['409', 409, '', {}, 'unavailable', null],
    ['498', 498, openAi('capacity_exceeded'), {}, 'unavailable', null],
    ['500', 500, openAi('oops'), {}, 'unavailable', null],
    ['502 as HTML', 502, '<html><h1>Bad gateway</h1></html>', {}, 'unavailable', null],
    [
      '503 loading',
      503,
      { error: { message: 'Loading model', type: 'unavailable_error', code: 503 } },
      {},
      'unavailable',
      null,
    ],
    ['503 with a delay', 503, '', { 'retry-after': '7' }, 'unavailable', 7_000],
    [
      '503 with a reset header, which is none',
      503,
      '',
      { 'x-ratelimit-reset-requests': '7s' },
      'unavailable',
      null,
    ],
    ['524', 524, '', {}, 'unavailable', null],
    [
      '529',
      529,
      { type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } },
      {},
      'unavailable',
      null,
    ],
    [
      '500 of a template',
      500,
      openAi('Jinja Exception: Conversation roles must alternate user/assistant'),
      {},
      'bad_request',
      undefined,
    ],
  ])('%s', (_name, status, body, headers, kind, retryAfterMs) => {
    const failure = classified(status, body, headers);
    expect(failure.kind).toBe(kind);
    expect('retryAfterMs' in failure ? failure.retryAfterMs : undefined).toBe(retryAfterMs);
  });
});

describe('access, policy, rejection', () => {
  test.each<[string, number, unknown, Failure['kind']]>([
    ['401', 401, openAi('Incorrect API key provided'), 'auth'],
    ['401 whatever it says', 401, openAi('prompt is too long, insufficient_quota'), 'auth'],
    ['403', 403, openAi('You are not allowed'), 'auth'],
    ['403 of billing', 403, openAi('Your billing is not active'), 'quota'],
    ['407', 407, '', 'auth'],
    [
      'Gemini key',
      400,
      [
        {
          error: {
            code: 400,
            message: 'API key not valid. Please pass a valid API key.',
            status: 'INVALID_ARGUMENT',
          },
        },
      ],
      'auth',
    ],
    [
      'Azure filter',
      400,
      {
        error: { code: 'content_filter', message: 'x', innererror: { code: 'ResponsibleAIPolicyViolation' } },
      },
      'policy',
    ],
    [
      'Azure filter, inner code only',
      400,
      { error: { code: '400', message: 'x', innererror: { code: 'ResponsibleAIPolicyViolation' } } },
      'policy',
    ],
    [
      'OpenRouter moderation',
      403,
      { error: { code: 403, message: 'Input was flagged by moderation' } },
      'policy',
    ],
    ['filter inside a 200', 200, { error: { code: 'content_filter', message: 'x' } }, 'policy'],
    ['400', 400, openAi('Bad'), 'bad_request'],
    ['404', 404, openAi('The model does not exist', 'model_not_found'), 'bad_request'],
    ['405', 405, '', 'bad_request'],
    [
      '422',
      422,
      {
        detail: [
          { loc: ['body', 'stream_options'], msg: 'Extra inputs are not permitted', type: 'extra_forbidden' },
        ],
      },
      'bad_request',
    ],
  ])('%s', (_name, status, body, kind) => {
    expect(classified(status, body).kind).toBe(kind);
  });

  test.each([
    [{ error: { message: 'x', param: 'max_tokens', code: 'unsupported_parameter' } }, 'max_tokens'],
    [
      { detail: [{ loc: ['body', 'stream_options'], msg: 'Extra inputs are not permitted' }] },
      'stream_options',
    ],
    [
      [
        {
          error: {
            code: 400,
            message: 'Invalid JSON payload received. Unknown name "seed": Cannot find field.',
          },
        },
      ],
      'seed',
    ],
    [{ error: { message: "property 'user' is unsupported" } }, 'user'],
    [{ code: 'x', error: 'Model grok does not support parameter presencePenalty.' }, 'presence_penalty'],
    [
      { error: { message: "Unsupported parameter: 'temperature' is not supported with this model." } },
      'temperature',
    ],
    [{ error: { message: 'Bad' } }, null],
  ])('the parameter named by %j', (body, param) => {
    expect(classified(400, body)).toMatchObject({ kind: 'bad_request', param });
  });

  test('a 404 shows the address without its query', () => {
    expect(classified(404, openAi('no such model')).message).toBe(
      'The model endpoint answered 404 for http://h/v1/chat/completions: no such model',
    );
  });
});

describe('an error inside a 200', () => {
  test.each<[string, unknown, Failure['kind']]>([
    ['overloaded', { error: { message: 'overloaded' } }, 'unavailable'],
    ['a text', { error: 'model runner has stopped' }, 'unavailable'],
    ['502 as a number', { error: { code: 502, message: 'x' } }, 'unavailable'],
    ['429 as text', { error: { code: '429', message: 'x' } }, 'rate_limited'],
    ['429 with quota', { error: { code: 429, message: 'x', type: 'insufficient_quota' } }, 'quota'],
    ['quota without a status', { error: { code: 'insufficient_quota', message: 'x' } }, 'quota'],
    ['rate limit without a status', { error: { type: 'rate_limit_error', message: 'x' } }, 'rate_limited'],
    ['401', { error: { code: 401, message: 'x' } }, 'auth'],
    ['key without a status', { error: { type: 'authentication_error', message: 'x' } }, 'auth'],
    ['400', { error: { code: 400, message: 'x' } }, 'bad_request'],
    ['invalid without a status', { error: { type: 'invalid_request_error', message: 'x' } }, 'bad_request'],
    ['a failed finish', { error: { code: 'network_error', message: 'x' } }, 'unavailable'],
    [
      'a full window at the finish',
      { error: { code: 'model_context_window_exceeded', message: 'x' } },
      'overflow',
    ],
    ['a gateway of its own', { status: 'failure', message: 'x' }, 'unavailable'],
  ])('%s', (_name, body, kind) => {
    expect(classified(200, body)).toMatchObject({ kind, status: 200 });
  });
});

describe('the message', () => {
  test.each<[unknown, string]>([
    [openAi('plain'), 'plain'],
    [{ error: 'text' }, 'text'],
    [{ error: { code: 400, message: 'Provider returned error', metadata: { raw: 'raw text' } } }, 'raw text'],
    [{ error: { message: 'Provider returned error', metadata: { raw: null } } }, 'Provider returned error'],
    [{ object: 'error', message: 'top', code: 400 }, 'top'],
    [{ object: 'error', message: { detail: [{ loc: ['body', 'n'], msg: 'wrong' }] } }, 'body.n: wrong'],
    [{ detail: 'detail' }, 'detail'],
    [[{ error: { message: 'in a list' } }], 'in a list'],
    [{ code: 'c', error: 'error beside a code' }, 'error beside a code'],
    [{ type: 'error', error: { type: 't', message: 'native' }, request_id: 'r' }, 'native'],
    [
      { error: { message: JSON.stringify({ error: { message: JSON.stringify({ message: 'twice' }) } }) } },
      'twice',
    ],
    [{ status: 429, error: 'SHORT', message: 'long' }, 'SHORT: long'],
    [{ 'html-message': '<b>html</b>' }, 'html'],
    ['  plain text\n', 'plain text'],
    ['<html><body><h1>Oops</h1></body></html>', 'Oops'],
    ['{"error":', '{"error":'],
    ['\ufeff{"error":"bom"}', 'bom'],
  ])('of %j is %j', (body, text) => {
    expect(classified(400, body).message).toBe(`The model endpoint answered 400: ${text}`);
  });

  test.each(['', 'null', '[]', '{}', '5', 'true', '{"error":{}}', '{"error":null,"message":7}', '[[[[]]]]'])(
    'of %j is only the status',
    (body) => {
      expect(classified(500, body)).toMatchObject({ kind: 'unavailable', status: 500 });
      expect(classified(500, body).message).toMatch(
        /^The model endpoint answered 500(?:: (?:5|null|true))?$/,
      );
    },
  );

  test('holds no key, no tag, and 300 characters at most', () => {
    const message = classified(
      401,
      openAi(`<p>Incorrect API key provided: the-endpoint-key or sk-abcdefghij. ${'x '.repeat(400)}</p>`),
    ).message;
    expect(message).toHaveLength(300);
    expect(message).toMatch(
      /^The model endpoint answered 401: Incorrect API key provided: \[REDACTED\] or \[REDACTED\]/,
    );
  });

  test('a document nested without end is read without harm', () => {
    const deep = `${'{"error":'.repeat(5_000)}"x"${'}'.repeat(5_000)}`;
    expect(classified(400, deep).kind).toBe('bad_request');
  });
});
