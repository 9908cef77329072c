import { describe, expect, it } from 'vitest';
import { loadConfig } from '../../src/config.js';
import { rolesOf } from '../../src/doctor/role.js';

const roles = (variables: Readonly<Record<string, string>>) =>
  rolesOf(loadConfig(variables), variables).map(({ name, endpoint, settings }) => ({
    name,
    model: endpoint.model,
    settings: [settings.model, settings.baseUrl, settings.apiKey, settings.windowTokens],
  }));

const OF_MAIN = ['MAIN_MODEL', 'OPENAI_BASE_URL', 'OPENAI_API_KEY', 'MAIN_WINDOW_TOKENS'];

describe('the endpoints to check', () => {
  it('are none without a model', () => {
    expect(roles({ OPENAI_BASE_URL: 'http://127.0.0.1:1', OPENAI_API_KEY: 'k' })).toEqual([]);
  });

  it('are one when the roles differ in nothing', () => {
    const expected = [{ name: 'main and compact', model: 'a', settings: OF_MAIN }];
    expect(roles({ MAIN_MODEL: 'a' })).toEqual(expected);
    expect(roles({ MAIN_MODEL: 'a', COMPACT_MODEL: 'a' })).toEqual(expected);
  });

  it('are two when they differ, with the variables that each takes its values from', () => {
    const variables = { OPENAI_BASE_URL: 'http://127.0.0.1:1', OPENAI_API_KEY: 'k', MAIN_MODEL: 'a' };
    expect(roles({ ...variables, COMPACT_MODEL: 'b' })).toEqual([
      { name: 'main', model: 'a', settings: OF_MAIN },
      {
        name: 'compact',
        model: 'b',
        settings: ['COMPACT_MODEL', 'OPENAI_BASE_URL', 'OPENAI_API_KEY', 'COMPACT_WINDOW_TOKENS'],
      },
    ]);
    expect(roles({ ...variables, COMPACT_API_KEY: 'c', COMPACT_WINDOW_TOKENS: '9' })[1]?.settings).toEqual([
      'MAIN_MODEL',
      'OPENAI_BASE_URL',
      'COMPACT_API_KEY',
      'COMPACT_WINDOW_TOKENS',
    ]);
  });

  it('are one when only compact has a model', () => {
    expect(roles({ COMPACT_MODEL: 'b' }).map(({ name }) => name)).toEqual(['compact']);
  });
});
