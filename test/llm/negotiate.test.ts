import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { readErrorBody } from '../../src/llm/error-facts.js';
import { changeAfter } from '../../src/llm/negotiate.js';
import type { FormChange } from '../../src/llm/request-form.js';

const SENT = {
  model: 'm',
  stream: true,
  stream_options: { include_usage: true },
  max_tokens: 100_000,
  temperature: 0.2,
  top_p: 0.9,
};
const changeFor = (body: unknown, sent: object = SENT) =>
  changeAfter(readErrorBody(JSON.stringify(body)), { ...sent });
const openAi = (message: string, param: string | null = null, code: string | null = null) => ({
  error: { message, type: 'invalid_request_error', param, code },
});
const pydantic = (field: string, msg: string, type = 'extra_forbidden') => ({
  detail: [{ type, loc: ['body', field], msg, input: 1 }],
});
const rename = (to: 'max_tokens' | 'max_completion_tokens'): FormChange => ({ kind: 'rename_cap', to });
const clamp = (to: number, lasting = true): FormChange => ({ kind: 'clamp_cap', to, lasting });
const drop = (parameter: 'stream' | 'stream_options' | 'temperature' | 'top_p'): FormChange => ({
  kind: 'drop',
  parameter,
});

describe('the name of the cap', () => {
  test.each<[string, unknown]>([
    [
      'OpenAI',
      openAi(
        "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.",
        'max_tokens',
        'unsupported_parameter',
      ),
    ],
    ['a parameter and no more', openAi('Bad request', 'max_tokens')],
    [
      'a text and no parameter',
      openAi("Unsupported parameter: 'max_tokens' is not supported with this model."),
    ],
    ['a text that only names the other one', openAi('Please use max_completion_tokens for this model')],
    ['a text with quotes around the other one', { detail: 'use `max_completion_tokens` instead' }],
    ['camel case', { code: 'c', error: 'Model grok-4 does not support parameter maxTokens.' }],
    [
      'Google',
      [
        {
          error: {
            code: 400,
            message: 'Invalid JSON payload received. Unknown name "max_tokens": Cannot find field.',
          },
        },
      ],
    ],
    ['Groq', openAi("property 'max_tokens' is unsupported")],
    [
      'a field that holds something else',
      openAi("Unsupported parameter: 'max_tokens'", 'invalid_request_error'),
    ],
  ])('max_tokens refused: %s', (_name, body) => {
    expect(changeFor(body)).toEqual(rename('max_completion_tokens'));
  });

  test('the reverse, as Mistral says it', () => {
    const sent = { max_completion_tokens: 512 };
    expect(changeFor(pydantic('max_completion_tokens', 'Extra inputs are not permitted'), sent)).toEqual(
      rename('max_tokens'),
    );
  });
});

describe('a cap that is too large', () => {
  test.each<[string, unknown, FormChange]>([
    [
      'OpenAI',
      openAi(
        'max_tokens is too large: 100000. This model supports at most 16,384 completion tokens, whereas you provided 100000.',
        'max_tokens',
        'invalid_value',
      ),
      clamp(16_384),
    ],
    [
      'Groq',
      openAi(
        '`max_tokens` must be less than or equal to `8192`, the maximum value for `max_tokens` is less than the `context_window` for this model',
        'max_tokens',
      ),
      clamp(8_192),
    ],
    ['Groq, by its text only', openAi('`max_tokens` must be less than or equal to `8192`'), clamp(8_192)],
    [
      'Mistral',
      pydantic('max_tokens', 'Input should be less than or equal to 4096', 'less_than_equal'),
      clamp(4_096),
    ],
    [
      'DeepSeek',
      openAi('Invalid max_tokens value, the valid range of max_tokens is [1, 8192]'),
      clamp(8_192),
    ],
    ['DashScope', openAi('Range of max_tokens should be [1, 16384]'), clamp(16_384)],
    [
      'Anthropic',
      {
        type: 'error',
        error: {
          type: 'invalid_request_error',
          message:
            'max_tokens: 100000 > 64000, which is the maximum allowed number of output tokens for claude',
        },
      },
      clamp(64_000),
    ],
    [
      'Google',
      openAi(
        'Unable to submit request because it has a maxOutputTokens value of 100000 but the supported range is from 1 (inclusive) to 65537 (exclusive).',
      ),
      clamp(65_536),
    ],
    [
      'vLLM: only for this prompt',
      openAi(
        "'max_tokens' or 'max_completion_tokens' is too large: 100000. This model's maximum context length is 4096 tokens and your request has 35 input tokens (100000 > 4096 - 35).",
      ),
      clamp(4_061, false),
    ],
  ])('%s', (_name, body, change) => {
    expect(changeFor(body)).toEqual(change);
  });

  test('a number that is not below the cap clamps nothing', () => {
    const body = openAi('max_tokens must be at most 16384', 'max_tokens');
    expect(changeFor(body, { max_tokens: 16_384 })).toEqual(rename('max_completion_tokens'));
  });
});

describe('what is left out', () => {
  test.each<[string, unknown, FormChange]>([
    [
      'stream_options, Mistral',
      pydantic('stream_options', 'Extra inputs are not permitted'),
      drop('stream_options'),
    ],
    [
      'stream_options, Databricks',
      { error_code: 'BAD', message: 'Unknown parameter: stream_options' },
      drop('stream_options'),
    ],
    ['stream_options, a member of it', openAi('x', 'stream_options.include_usage'), drop('stream_options')],
    [
      'stream_options, its member by place',
      { detail: [{ loc: ['body', 'stream_options', 'include_usage'], msg: 'x' }] },
      drop('stream_options'),
    ],
    [
      'stream_options, camel case',
      { error: 'model does not support parameter streamOptions' },
      drop('stream_options'),
    ],
    [
      'stream_options, Azure',
      openAi('Unrecognized request argument supplied: stream_options'),
      drop('stream_options'),
    ],
    [
      'stream, by parameter',
      openAi('Your organization must be verified to stream this model.', 'stream', 'unsupported_value'),
      drop('stream'),
    ],
    ['stream, by text', openAi('Streaming is not supported for this model'), drop('stream')],
    ['stream, another text', { detail: 'This model does not support streaming.' }, drop('stream')],
    [
      'temperature',
      openAi(
        "Unsupported value: 'temperature' does not support 0.2 with this model.",
        'temperature',
        'unsupported_value',
      ),
      drop('temperature'),
    ],
    [
      'temperature, by text',
      openAi("Unsupported parameter: 'temperature' is not supported with this model."),
      drop('temperature'),
    ],
    ['top_p, camel case', { error: 'Model grok does not support parameter topP.' }, drop('top_p')],
    [
      'one of two',
      openAi('`temperature` and `top_p` cannot both be specified for this model. Please use only one.'),
      drop('top_p'),
    ],
    [
      'temperature, LiteLLM',
      openAi(
        "litellm.UnsupportedParamsError: bedrock does not support parameters: ['temperature'], for model=x",
      ),
      drop('temperature'),
    ],
    [
      'temperature, LiteLLM with its value',
      openAi("vertex_ai does not support parameters: {'temperature': 0.2}, for model=x"),
      drop('temperature'),
    ],
    [
      'stream_options, Python',
      { detail: "f() got an unexpected keyword argument 'stream_options'" },
      drop('stream_options'),
    ],
    ['stream_options, Go', { error: 'json: unknown field "stream_options"' }, drop('stream_options')],
    [
      'stream_options, Rust',
      'unknown field `stream_options`, expected one of `model`',
      drop('stream_options'),
    ],
    [
      'stream_options, with others',
      openAi('Unrecognized request arguments supplied: stream_options, foo'),
      drop('stream_options'),
    ],
  ])('%s', (_name, body, change) => {
    expect(changeFor(body)).toEqual(change);
  });
});

describe('nothing is changed', () => {
  test.each<[string, unknown, object]>([
    ['no parameter is named', openAi('Bad request'), SENT],
    ['another parameter is named', openAi("Unsupported parameter: 'seed'", 'seed'), SENT],
    ['the parameter is a message', openAi('x', 'messages.[0].content'), SENT],
    ['a name that every object has', openAi('x', 'constructor'), SENT],
    ['no cap was sent', openAi('x', 'max_tokens'), { stream: true }],
    ['no stream options were sent', pydantic('stream_options', 'x'), { stream: true }],
    ['no stream was asked for', openAi('Streaming is not supported'), {}],
    ['no temperature was sent', openAi('x', 'temperature'), { stream: true }],
    ['the text is about something else', openAi('upstream is not supported, use https'), SENT],
    ['there is no text', '', SENT],
  ])('%s', (_name, body, sent) => {
    expect(changeFor(body, sent)).toBeNull();
  });
});

test('no document whatever makes it throw, and a change is always about something that was sent', () => {
  const words = fc.constantFrom(
    'max_tokens',
    'stream',
    'temperature',
    'is not supported',
    'at most 5',
    'Unknown name "',
    '[1, 7]',
    ' > ',
    '__proto__',
  );
  const text = fc.oneof(
    fc.string(),
    fc.array(words, { maxLength: 6 }).map((list) => list.join(' ')),
  );
  const document = fc.record({
    error: fc.record({ message: text, param: fc.oneof(text, fc.constant(null)) }),
  });
  fc.assert(
    fc.property(document, fc.subarray(Object.keys(SENT)), (body, names) => {
      const sent = Object.fromEntries(Object.entries(SENT).filter(([name]) => names.includes(name)));
      const change = changeFor(body, sent);
      if (change === null) return;
      expect(Object.keys(sent)).toContain(change.kind === 'drop' ? change.parameter : 'max_tokens');
      if (change.kind === 'clamp_cap') expect(change.to).toBeLessThan(SENT.max_tokens);
    }),
    { numRuns: 500 },
  );
});

test.each(['1', '_', 'a', 'max_', "'", ' ', '1,', 'stream ', 'temperature and ', 'range of ', '(1 > '])(
  'a long text of %j is judged in no time',
  (piece) => {
    const facts = readErrorBody(piece.repeat(8_192 / piece.length));
    const started = performance.now();
    changeAfter(facts, SENT);
    expect(performance.now() - started).toBeLessThan(100);
  },
);
