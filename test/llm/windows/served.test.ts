import { describe, expect, it } from 'vitest';
import { askedAbout, raw, served } from './harness.js';

/** Each kind of server with what it answers, cut to a few rows, and what it is asked. */

const LIST = 'GET /v1/models';
/** What is asked beside the list of models when that names no window. */
const BESIDE = ['GET /api/ps', 'GET /api/v0/models', 'GET /api/v1/models', 'GET /model/info', 'GET /props'];
/** Once one kind has answered, the others are not waited for: some may not even have been asked. */
const foundBeside = (asked: Awaited<ReturnType<typeof askedAbout>>, tokens: number, path: string) => {
  expect(asked.window).toEqual(served(tokens));
  expect(asked.paths).toEqual(expect.arrayContaining([LIST, path]));
  expect([...BESIDE, LIST, path]).toEqual(expect.arrayContaining(asked.paths));
};
const OPENAI_ROW = { object: 'model', created: 1_700_000_000, owned_by: 'openai' };

describe('the list of models is enough for', () => {
  it('vLLM', async () => {
    const row = {
      id: 'Qwen/Qwen3-8B',
      object: 'model',
      created: 1_760_000_000,
      owned_by: 'vllm',
      root: 'Qwen/Qwen3-8B',
      parent: null,
      max_model_len: 32_768,
      permission: [{ id: 'modelperm-1', object: 'model_permission', allow_sampling: true }],
    };
    expect(await askedAbout('Qwen/Qwen3-8B', { [LIST]: { object: 'list', data: [row] } })).toEqual({
      window: served(32_768),
      paths: [LIST],
    });
  });

  it('llama.cpp: the loaded window, never the one it was trained with', async () => {
    const model = { name: 'gemma-3-4b-it-Q4_K_M.gguf', type: 'model', capabilities: ['completion'] };
    const meta = { vocab_type: 2, n_vocab: 262_144, n_ctx: 8_192, n_ctx_train: 131_072, n_params: 4e9 };
    const row = { id: 'gemma-3-4b-it-Q4_K_M.gguf', object: 'model', owned_by: 'llamacpp', meta };
    const list = { models: [model], object: 'list', data: [row] };
    expect(await askedAbout('gemma-3-4b-it-Q4_K_M.gguf', { [LIST]: list })).toEqual({
      window: served(8_192),
      paths: [LIST],
    });
  });

  it('LiteLLM: the smallest of several deployments', async () => {
    const data = [
      { id: 'gpt-5', ...OPENAI_ROW, max_input_tokens: 272_000, max_output_tokens: 128_000 },
      { id: 'gpt-5', ...OPENAI_ROW, max_input_tokens: 128_000, max_output_tokens: 16_384 },
      { id: 'gpt-5', ...OPENAI_ROW },
      { id: 'openai/*', ...OPENAI_ROW, max_input_tokens: 1 },
    ];
    expect(await askedAbout('gpt-5', { [LIST]: { data, object: 'list' } })).toEqual({
      window: served(128_000),
      paths: [LIST],
    });
  });

  it('Groq', async () => {
    const row = {
      id: 'llama-3.1-8b-instant',
      object: 'model',
      created: 1_693_721_698,
      owned_by: 'Meta',
      active: true,
      context_window: 131_072,
      public_apps: null,
      max_completion_tokens: 131_072,
    };
    const list = { object: 'list', data: [{ ...row, id: 'whisper-large-v3', context_window: 448 }, row] };
    expect((await askedAbout('llama-3.1-8b-instant', { [LIST]: list })).window).toEqual(served(131_072));
  });

  it.each([
    ['the smaller one of the provider', 163_840, 65_536, 65_536],
    ['the smaller one of the model', 32_768, 65_536, 32_768],
    ['the model alone', 163_840, null, 163_840],
  ])('OpenRouter: %s', async (_name, contextLength, ofProvider, expected) => {
    const row = {
      id: 'deepseek/deepseek-r1',
      canonical_slug: 'deepseek/deepseek-r1',
      context_length: contextLength,
      architecture: { modality: 'text->text', tokenizer: 'DeepSeek' },
      pricing: { prompt: '0.0000004', completion: '0.000002' },
      top_provider: { context_length: ofProvider, max_completion_tokens: 8_000, is_moderated: false },
      per_request_limits: null,
    };
    const list = { data: [{ ...row, id: 'deepseek/deepseek-r1:free', context_length: 1_000 }, row] };
    expect((await askedAbout('deepseek/deepseek-r1', { [LIST]: list })).window).toEqual(served(expected));
  });

  it('Together: a bare array', async () => {
    const row = { id: 'meta-llama/Llama-3-8b', object: 'model', type: 'chat', context_length: 8_192 };
    expect((await askedAbout('meta-llama/Llama-3-8b', { [LIST]: [row] })).window).toEqual(served(8_192));
  });

  it('Mistral', async () => {
    const row = {
      id: 'mistral-small-latest',
      object: 'model',
      owned_by: 'mistralai',
      capabilities: { completion_chat: true, function_calling: true },
      max_context_length: 131_072,
      aliases: [],
    };
    const list = { object: 'list', data: [row] };
    expect((await askedAbout('mistral-small-latest', { [LIST]: list })).window).toEqual(served(131_072));
  });

  it('Fireworks', async () => {
    const id = 'accounts/fireworks/models/llama-v3p1-8b-instruct';
    const list = { object: 'list', data: [{ id, object: 'model', context_length: 131_072 }] };
    expect((await askedAbout(id, { [LIST]: list })).window).toEqual(served(131_072));
  });

  it('Anthropic: what goes in, not what may come out', async () => {
    const row = { type: 'model', id: 'claude-sonnet-5', max_tokens: 64_000, max_input_tokens: 200_000 };
    const list = { data: [row], has_more: false };
    expect((await askedAbout('claude-sonnet-5', { [LIST]: list })).window).toEqual(served(200_000));
  });

  it('Open WebUI', async () => {
    const list = { data: [{ id: 'gemma3:4b', context_window: 8_192, context_length: 131_072 }] };
    // Both in one row: the field that comes first in the list of fields counts.
    expect((await askedAbout('gemma3:4b', { [LIST]: list })).window).toEqual(served(131_072));
  });

  it('Copilot-like gateways: the smallest limit of what goes in', async () => {
    const limits = {
      max_context_window_tokens: 128_000,
      max_output_tokens: 4_096,
      max_prompt_tokens: 64_000,
    };
    const list = { data: [{ id: 'gpt-4o', capabilities: { limits } }] };
    expect((await askedAbout('gpt-4o', { [LIST]: list })).window).toEqual(served(64_000));
  });

  it.each([
    ['models/gemini-3-flash', 'gemini-3-flash'],
    ['gemini-3-flash', 'models/gemini-3-flash'],
  ])('Gemini through a gateway: %s is %s', async (listed, model) => {
    const list = { object: 'list', data: [{ id: listed, context_length: 1_048_576 }] };
    expect((await askedAbout(model, { [LIST]: list })).window).toEqual(served(1_048_576));
  });
});

describe('beside the list', () => {
  const ids = (...names: string[]) => ({
    object: 'list',
    data: names.map((id) => ({ id, ...OPENAI_ROW })),
  });

  it('llama.cpp names the window of one slot', async () => {
    const props = {
      default_generation_settings: { id: 0, n_ctx: 4_096, speculative: false, params: { n_predict: -1 } },
      total_slots: 4,
      model_path: '/models/qwen.gguf',
      chat_template: '{{ messages }}',
    };
    const asked = await askedAbout('anything', { [LIST]: ids('/models/qwen.gguf'), 'GET /props': props });
    foundBeside(asked, 4_096, 'GET /props');
  });

  it('llama.cpp as a router is asked for the model, and not made to load it', async () => {
    const router = { role: 'router', default_generation_settings: { params: null, n_ctx: 0 } };
    const props = { default_generation_settings: { n_ctx: 16_384 }, total_slots: 1 };
    const perModel = 'GET /props?model=ggml-org%2Fgemma%3AQ4&autoload=false';
    const routes = { [LIST]: ids('ggml-org/gemma:Q4'), 'GET /props': router, [perModel]: props };
    const asked = await askedAbout('ggml-org/gemma:Q4', routes);
    foundBeside(asked, 16_384, perModel);
  });

  it('a router that has the model not loaded is asked once', async () => {
    const router = { default_generation_settings: { n_ctx: 0 } };
    const asked = await askedAbout('qwen', {
      'GET /props': router,
      'GET /props?model=qwen&autoload=false': router,
    });
    expect(asked.window).toBeNull();
    expect(asked.paths.filter((path) => path.startsWith('GET /props'))).toHaveLength(2);
  });

  it.each(['llama3.2', 'llama3.2:latest'])('Ollama names the loaded window: %s', async (model) => {
    const running = {
      name: 'llama3.2:latest',
      model: 'llama3.2:latest',
      size: 5_137_025_024,
      details: { family: 'llama', parameter_size: '3.2B' },
      expires_at: '2026-06-04T14:38:31Z',
      context_length: 4_096,
    };
    const ps = { models: [{ ...running, name: 'other:1b', model: 'other:1b', context_length: 9 }, running] };
    const asked = await askedAbout(model, { [LIST]: ids('llama3.2:latest'), 'GET /api/ps': ps });
    foundBeside(asked, 4_096, 'GET /api/ps');
  });

  it('Ollama names the window of the model file for what is not loaded, never that of the architecture', async () => {
    const show = {
      parameters:
        'stop                           "<|eot_id|>"\nnum_ctx                        8192\ntemperature 1',
      model_info: { 'general.architecture': 'llama', 'llama.context_length': 131_072 },
    };
    const ps = { models: [] };
    const asked = await askedAbout('llama3.2', { 'GET /api/ps': ps, 'POST /api/show': show });
    expect(asked.window).toEqual(served(8_192));
    const old = { models: [{ name: 'llama3.2:latest', model: 'llama3.2:latest', size: 5 }] };
    const loaded = await askedAbout('llama3.2', { 'GET /api/ps': old, 'POST /api/show': show });
    expect(loaded.window).toEqual(served(8_192));
    const without = { model_info: show.model_info };
    const unknown = await askedAbout('llama3.2', { 'GET /api/ps': ps, 'POST /api/show': without });
    expect(unknown.window).toBeNull();
    expect(unknown.paths).toEqual([...BESIDE, LIST, 'POST /api/show']);
  });

  const LM_STUDIO_ERROR = { error: 'Unexpected endpoint or method. (GET /api/ps)' };

  it('LM Studio names the window of the loaded instance, and 200 with an error is no answer', async () => {
    const model = {
      type: 'llm',
      key: 'qwen/qwen3-4b',
      loaded_instances: [{ id: 'qwen/qwen3-4b', config: { context_length: 8_192, flash_attention: true } }],
      max_context_length: 262_144,
    };
    const routes = { [LIST]: ids('qwen/qwen3-4b'), 'GET /api/v1/models': { models: [model] } };
    foundBeside(await askedAbout('qwen/qwen3-4b', routes, LM_STUDIO_ERROR), 8_192, 'GET /api/v1/models');
  });

  it('LM Studio before 0.4 names it per model; what is not loaded has none', async () => {
    const loaded = {
      id: 'loaded',
      state: 'loaded',
      loaded_context_length: 4_096,
      max_context_length: 32_768,
    };
    const idle = { id: 'idle', state: 'not-loaded', max_context_length: 32_768 };
    const routes = { [LIST]: ids('loaded', 'idle'), 'GET /api/v0/models': { data: [loaded, idle] } };
    expect((await askedAbout('loaded', routes, LM_STUDIO_ERROR)).window).toEqual(served(4_096));
    expect((await askedAbout('idle', routes, LM_STUDIO_ERROR)).window).toBeNull();
  });

  it('LM Studio without the model loaded names nothing', async () => {
    const model = { key: 'qwen/qwen3-4b', loaded_instances: [], max_context_length: 262_144 };
    const routes = { [LIST]: ids('qwen/qwen3-4b'), 'GET /api/v1/models': { models: [model] } };
    expect((await askedAbout('qwen/qwen3-4b', routes, LM_STUDIO_ERROR)).window).toBeNull();
  });

  it('an older LiteLLM names it under /model/info', async () => {
    const deployment = (tokens: number | null) => ({
      model_name: 'gpt-4o',
      litellm_params: { model: 'azure/gpt-4o' },
      model_info: { id: 'abc', max_input_tokens: tokens, max_output_tokens: 16_384 },
    });
    const info = { data: [deployment(128_000), deployment(null), deployment(64_000)] };
    const asked = await askedAbout('gpt-4o', { [LIST]: ids('gpt-4o'), 'GET /model/info': info });
    foundBeside(asked, 64_000, 'GET /model/info');
  });

  it.each([
    ['OpenAI, DeepSeek and xAI name none', ids('gpt-5', 'gpt-5-mini')],
    ['Azure has no list where the deployment is in the path', raw({ status: 404, body: '' })],
  ])('%s', async (_name, list) => {
    expect(await askedAbout('gpt-5', { [LIST]: list })).toEqual({ window: null, paths: [...BESIDE, LIST] });
  });
});
