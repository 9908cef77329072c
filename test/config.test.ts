import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { ConfigError, loadConfig, VARIABLE_NAMES } from '../src/config.js';

describe('the configuration', () => {
  it('has a default for everything', () => {
    expect(loadConfig({})).toEqual({
      host: '127.0.0.1',
      port: 5050,
      databaseUrl: 'file:./data/compactd.db',
      logLevel: 'info',
      allowedHosts: [],
      bodyLimit: 16 * 1024 * 1024,
      shutdownGraceMs: 10_000,
      contextCacheBytes: 64 * 1024 * 1024,
      summaryMaxChars: 12_000,
      summaryChunkChars: 60_000,
      toolResultChars: 16_000,
      compactionLeaseMs: 30_000,
      compact: null,
      warnings: [],
    });
  });

  it('takes empty variables for absent ones', () => {
    expect(loadConfig({ PORT: '', COMPACT_MODEL: ' ', OPENAI_API_KEY: '' })).toEqual(loadConfig({}));
  });

  it('lists every bad variable, and repeats no value', () => {
    const load = () =>
      loadConfig({
        PORT: 'http',
        LOG_LEVEL: 'loud',
        COMPACT_RETRIES: '-1',
        OPENAI_BASE_URL: 'sk-secret',
        SUMMARY_MAX_CHARS: '1.5',
      });
    expect(load).toThrow(ConfigError);
    try {
      load();
    } catch (error) {
      const message = String(error);
      for (const name of ['PORT', 'LOG_LEVEL', 'COMPACT_RETRIES', 'OPENAI_BASE_URL', 'SUMMARY_MAX_CHARS']) {
        expect(message).toContain(`  ${name}: `);
      }
      expect(message).not.toContain('sk-secret');
    }
  });

  it('serves loopback only, unless told that there is no need for keys', () => {
    expect(() => loadConfig({ HOST: '0.0.0.0' })).toThrow(/AUTH=none/);
    expect(loadConfig({ HOST: '0.0.0.0', AUTH: 'none' }).host).toBe('0.0.0.0');
    for (const host of ['127.0.0.1', 'localhost', '::1', '127.1.2.3'])
      expect(loadConfig({ HOST: host }).host).toBe(host);
    expect(() => loadConfig({ AUTH: 'some' })).toThrow(/AUTH/);
  });

  it('refuses a database it does not know', () => {
    expect(() => loadConfig({ DATABASE_URL: 'mysql://x' })).toThrow(/DATABASE_URL/);
  });

  const full = {
    OPENAI_BASE_URL: 'http://main.example/v1',
    OPENAI_API_KEY: 'main-key',
    MAIN_MODEL: 'big',
    MAIN_WINDOW_TOKENS: '128000',
    MAIN_RETRIES: '5',
  };

  it('takes what compact does not say from main, field by field', () => {
    expect(loadConfig({ ...full, COMPACT_MODEL: 'small', COMPACT_RETRIES: '0' }).compact).toEqual({
      baseUrl: 'http://main.example/v1',
      apiKey: 'main-key',
      model: 'small',
      windowTokens: 128_000,
      maxOutputTokens: null,
      connectTimeoutMs: 10_000,
      firstByteTimeoutMs: 300_000,
      silenceTimeoutMs: 120_000,
      totalTimeoutMs: 900_000,
      retries: 0,
    });
    expect(loadConfig(full).compact).toMatchObject({ model: 'big', retries: 5 });
  });

  it.each([
    ['the same origin', 'http://main.example/other/v1', 'main-key'],
    ['another host', 'http://other.example/v1', null],
    ['another port', 'http://main.example:8080/v1', null],
    ['another scheme', 'https://main.example/v1', null],
  ])('hands the key of main to %s as it should', (_, COMPACT_BASE_URL, apiKey) => {
    expect(loadConfig({ ...full, COMPACT_BASE_URL }).compact?.apiKey).toBe(apiKey);
    expect(loadConfig({ ...full, COMPACT_BASE_URL, COMPACT_API_KEY: 'own' }).compact?.apiKey).toBe('own');
  });

  it('is not configured by a stray key or address', () => {
    expect(loadConfig({ OPENAI_API_KEY: 'stray' })).toMatchObject({ compact: null, warnings: [] });
    const withUrl = loadConfig({ OPENAI_BASE_URL: 'http://x.example' });
    expect(withUrl.compact).toBeNull();
    expect(withUrl.warnings).toEqual([
      'A base URL is set but no model: set MAIN_MODEL or COMPACT_MODEL to use it',
    ]);
    expect(loadConfig({ COMPACT_MODEL: 'gpt-5-mini' }).compact?.baseUrl).toBe('https://api.openai.com/v1');
  });

  it.each(['.env.example', 'docs/configuration.md'])('is listed whole in %s', (name) => {
    const text = readFileSync(new URL(`../${name}`, import.meta.url), 'utf8');
    const missing = VARIABLE_NAMES.filter((variable) => !new RegExp(`\\b${variable}\\b`).test(text));
    expect(missing).toEqual([]);
  });
});
