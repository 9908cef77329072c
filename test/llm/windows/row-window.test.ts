import { describe, expect, it } from 'vitest';
import { isHostedVendor, probeUrls } from '../../../src/llm/windows/probe-urls.js';
import { windowInRow } from '../../../src/llm/windows/row-window.js';

const read = (row: Record<string, unknown>) => windowInRow(row, '/v1/models');

describe('the window in a row', () => {
  it.each([0, -1, Number.NaN, 1.5, 2 ** 60, '', 'auto', '12k', '-5', '0', null, true, [], {}])(
    'is not %j',
    (value) => {
      expect(read({ max_model_len: value, context_length: 4_096 })).toEqual({
        tokens: 4_096,
        where: '/v1/models, context_length',
      });
    },
  );

  it.each([4_096, '4096', ' 4096 '])('is %j', (value) => {
    expect(read({ context_window: value })?.tokens).toBe(4_096);
  });

  it('is that of the surest field', () => {
    const fields = [
      { max_model_len: 1 },
      { meta: { n_ctx: 2 } },
      { context_length: 3 },
      { context_window: 4 },
      { max_context_length: 5 },
      { max_input_tokens: 6 },
      { model_info: { max_input_tokens: 7 } },
      { limits: { context_window: 8 } },
    ];
    for (let first = 0; first < fields.length; first += 1) {
      const row = Object.assign({}, ...fields.slice(first));
      expect(read(row)?.tokens).toBe(first + 1);
    }
  });

  it('is the smallest of the limits, and none of output or training', () => {
    expect(read({ limits: { max_input_tokens: 900, context_length: 800, max_output_tokens: 7 } })).toEqual({
      tokens: 800,
      where: '/v1/models, limits.context_length',
    });
    expect(read({ limits: { max_output_tokens: 7 }, meta: { n_ctx_train: 9 }, max_tokens: 5 })).toBeNull();
  });

  it('is read from own members only, of any shape', () => {
    expect(read({ meta: 'text', top_provider: [4_096], limits: null })).toBeNull();
    expect(read(Object.create({ max_model_len: 5 }))).toBeNull();
  });
});

describe('the addresses', () => {
  it.each([
    ['http://h:1/v1/chat/completions', 'http://h:1/v1/models', 'http://h:1/props?model=a'],
    ['http://h:1/x/v1/chat/completions', 'http://h:1/x/v1/models', 'http://h:1/x/props?model=a'],
    ['http://h:1/chat/completions', 'http://h:1/models', 'http://h:1/props?model=a'],
    [
      'https://h/openai/deployments/d/chat/completions?api-version=1',
      'https://h/openai/deployments/d/models?api-version=1',
      'https://h/openai/deployments/d/props?model=a',
    ],
  ])('beside %s', (completions, models, props) => {
    const urls = probeUrls(new URL(completions));
    expect([urls.models.href, urls.beside('/props?model=a').href]).toEqual([models, props]);
  });

  it('tell hosted vendors from others', () => {
    const hosted = [
      'https://api.openai.com/v1',
      'https://openrouter.ai/api/v1',
      'https://x.openai.azure.com/',
    ];
    const others = ['http://127.0.0.1:1/v1', 'https://openai.com.example.org/', 'https://notx.ai/'];
    expect(hosted.filter((url) => !isHostedVendor(new URL(url)))).toEqual([]);
    expect(others.filter((url) => isHostedVendor(new URL(url)))).toEqual([]);
  });
});
