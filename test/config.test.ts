import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { ConfigError, loadConfig, VARIABLE_NAMES } from '../src/config.js';

const UNUSABLE_KEY =
  'holds a character that no header can have: a line break, a control character, or one above U+00FF';
const CREDENTIALS =
  'must hold no user or password: set the API key, or an Authorization header among the extra headers';

describe('the configuration', () => {
  it('has a default for everything', () => {
    expect(loadConfig({})).toEqual({
      host: '127.0.0.1',
      port: 5050,
      databaseUrl: 'file:./data/compactd.db',
      migrateOnBoot: false,
      postgres: {
        poolSize: 10,
        connectTimeoutMs: 5_000,
        statementTimeoutMs: 30_000,
        lockTimeoutMs: 15_000,
        idleTransactionTimeoutMs: 10_000,
        transactionPooler: false,
      },
      logLevel: 'info',
      allowedHosts: [],
      agentsDir: null,
      bodyLimit: 16 * 1024 * 1024,
      shutdownGraceMs: 10_000,
      contextCacheBytes: 64 * 1024 * 1024,
      summaryMaxChars: 12_000,
      summaryChunkChars: 60_000,
      toolResultChars: 16_000,
      compactionLeaseMs: 30_000,
      strictWire: false,
      compactFallback: false,
      windowDiscovery: true,
      main: null,
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

  it('takes a SQLite file or a PostgreSQL server, and refuses a database it does not know', () => {
    for (const url of ['file:x.db', 'postgres://h/d', 'postgresql://u:p@h:1/d']) {
      expect(loadConfig({ DATABASE_URL: url }).databaseUrl).toBe(url);
    }
    for (const url of ['mysql://x', 'postgres:x', 'x.db']) {
      expect(() => loadConfig({ DATABASE_URL: url })).toThrow(/DATABASE_URL/);
    }
  });

  it('knows poolers, and whether to migrate at the start', () => {
    const { migrateOnBoot, postgres } = loadConfig({
      MIGRATE_ON_BOOT: 'true',
      DATABASE_POOLER: 'transaction',
      DATABASE_POOL_SIZE: '3',
    });
    expect([migrateOnBoot, postgres.transactionPooler, postgres.poolSize]).toEqual([true, true, 3]);
    expect(() => loadConfig({ MIGRATE_ON_BOOT: 'yes' })).toThrow(/MIGRATE_ON_BOOT/);
    expect(() => loadConfig({ DATABASE_POOL_SIZE: '1' })).toThrow(/DATABASE_POOL_SIZE/);
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
      authHeader: 'bearer',
      extraHeaders: {},
      extraBody: {},
      apiVersion: null,
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

  it('has the main endpoint once it has a model', () => {
    expect(loadConfig(full).main).toEqual({
      baseUrl: 'http://main.example/v1',
      apiKey: 'main-key',
      authHeader: 'bearer',
      extraHeaders: {},
      extraBody: {},
      apiVersion: null,
      model: 'big',
      windowTokens: 128_000,
      maxOutputTokens: null,
      connectTimeoutMs: 10_000,
      firstByteTimeoutMs: 300_000,
      silenceTimeoutMs: 120_000,
      totalTimeoutMs: 900_000,
      retries: 5,
    });
    expect(loadConfig({ COMPACT_MODEL: 'small', OPENAI_API_KEY: 'x' }).main).toBeNull();
  });

  const dressed = {
    ...full,
    MAIN_AUTH_HEADER: 'api-key',
    MAIN_API_VERSION: '2024-10-21',
    MAIN_EXTRA_HEADERS: '{"X-Title": "compactd"}',
    MAIN_EXTRA_BODY: '{"temperature": 0.2, "chat_template_kwargs": {"enable_thinking": false}}',
  };
  const dress = {
    authHeader: 'api-key',
    apiVersion: '2024-10-21',
    extraHeaders: { 'X-Title': 'compactd' },
    extraBody: { temperature: 0.2, chat_template_kwargs: { enable_thinking: false } },
  };

  it('takes headers, fields and the form of the key from main for the same origin only', () => {
    const { main, compact } = loadConfig({ ...dressed, COMPACT_MODEL: 'small' });
    expect(main).toMatchObject(dress);
    expect(compact).toMatchObject(dress);
    expect(loadConfig({ ...dressed, COMPACT_BASE_URL: 'http://other.example/v1' }).compact).toMatchObject({
      apiKey: null,
      authHeader: 'bearer',
      apiVersion: null,
      extraHeaders: {},
      extraBody: {},
    });
  });

  it('has a value of its own for each of them where one is set, which replaces that of main', () => {
    const own = loadConfig({
      ...dressed,
      COMPACT_AUTH_HEADER: 'none',
      COMPACT_API_VERSION: 'preview',
      COMPACT_EXTRA_HEADERS: '{"X-Own": "1"}',
      COMPACT_EXTRA_BODY: '{}',
    }).compact;
    expect(own).toMatchObject({ authHeader: 'none', apiVersion: 'preview' });
    expect([own?.extraHeaders, own?.extraBody]).toEqual([{ 'X-Own': '1' }, {}]);
  });

  it.each([
    ['MAIN_EXTRA_HEADERS', '{"X-Key": "hidden-1"', 'must be a JSON object of strings'],
    ['MAIN_EXTRA_HEADERS', '["hidden-1"]', 'must be a JSON object of strings'],
    ['COMPACT_EXTRA_HEADERS', '{"X-Key": 5}', 'must be a JSON object of strings'],
    ['MAIN_EXTRA_HEADERS', '{"X Key": "hidden-1"}', 'holds a name that no header can have'],
    ['MAIN_EXTRA_HEADERS', '{"": "hidden-1"}', 'holds a name that no header can have'],
    [
      'COMPACT_EXTRA_HEADERS',
      '{"X-Key": "hidden-1\\nX: y"}',
      'holds a value for x-key that no header can have',
    ],
    ['COMPACT_EXTRA_HEADERS', '{"Content-Length": "5"}', 'must not set content-length'],
    ['MAIN_EXTRA_HEADERS', '{"Content-Encoding": "gzip"}', 'must not set content-encoding'],
    ['COMPACT_EXTRA_HEADERS', '{"TE": "trailers"}', 'must not set te'],
    ['MAIN_EXTRA_HEADERS', '{"Trailer": "x"}', 'must not set trailer'],
    ['MAIN_EXTRA_HEADERS', '{"Proxy-Connection": "close"}', 'must not set proxy-connection'],
    ['MAIN_EXTRA_HEADERS', '{"Range": "bytes=0-1"}', 'must not set range'],
    ['MAIN_EXTRA_HEADERS', '{"Content-MD5": "x"}', 'must not set content-md5'],
    ['MAIN_EXTRA_BODY', 'temperature=0', 'must be a JSON object'],
    ['COMPACT_EXTRA_BODY', '[1]', 'must be a JSON object'],
    ['MAIN_EXTRA_BODY', '{"messages": []}', 'must not set messages'],
    ['COMPACT_EXTRA_BODY', '{"stream": false}', 'must not set stream'],
    ['COMPACT_EXTRA_BODY', '{"max_tokens": 5}', 'must not set max_tokens'],
    ['MAIN_AUTH_HEADER', 'cookie', 'must be one of bearer, api-key, none'],
    ['AUTH', 'some', 'must be one of none'],
    ['COMPACT_FALLBACK', 'embedded', 'must be one of main'],
    ['COMPACT_FALLBACK', 'main', 'main has no model: set MAIN_MODEL, or leave this empty'],
    ['OPENAI_API_KEY', 'hidden-1\nX: y', UNUSABLE_KEY],
    ['COMPACT_API_KEY', 'hidden\u001b1', UNUSABLE_KEY],
    ['COMPACT_API_KEY', 'hidden-\u0100', UNUSABLE_KEY],
    ['OPENAI_BASE_URL', 'http://hidden-1:hidden-2@h.example/v1', CREDENTIALS],
    ['COMPACT_BASE_URL', 'https://hidden-1@h.example', CREDENTIALS],
    ['OPENAI_BASE_URL', 'ftp://h.example/hidden-1', 'must begin with http:// or https://'],
    ['COMPACT_BASE_URL', 'hidden-1', 'must begin with http:// or https://'],
    ['OPENAI_BASE_URL', 'http://[hidden-1', 'is no valid URL'],
    ['OPENAI_BASE_URL', 'http://h.example:99999', 'is no valid URL'],
  ])('refuses %s=%s', (name, value, fault) => {
    expect(() => loadConfig({ [name]: value })).toThrow(
      new ConfigError(`The configuration is not valid:\n  ${name}: ${fault}`),
    );
  });

  it.each(['key-\u00ff', 'with blank', '  padded\n'])('takes the key %j', (OPENAI_API_KEY) => {
    expect(loadConfig({ ...full, OPENAI_API_KEY }).main?.apiKey).toBe(OPENAI_API_KEY.trim());
  });

  it('lets main stand in for compact, and warns where that changes nothing', () => {
    const COMPACT_FALLBACK = 'main';
    const useful = loadConfig({ ...full, COMPACT_FALLBACK, COMPACT_MODEL: 'small' });
    expect(useful).toMatchObject({ compactFallback: true, warnings: [] });
    const COMPACT_BASE_URL = 'http://main.example/v1/';
    expect(loadConfig({ ...full, COMPACT_FALLBACK, COMPACT_BASE_URL })).toMatchObject({
      compactFallback: true,
      warnings: ['COMPACT_FALLBACK=main changes nothing: main is the model that writes the summaries anyway'],
    });
  });

  it.each([
    ['HTTP_PROXY', 'socks5://hidden-1@127.0.0.1:9'],
    ['https_proxy', 'ftp://hidden-1'],
    ['HTTPS_PROXY', 'http://'],
    ['http_proxy', 'http://hidden-1:%zz@proxy.example:8080'],
    ['HTTP_PROXY', 'hidden 1'],
  ])('refuses %s=%s where an endpoint is not local', (name, value) => {
    const variables = { MAIN_MODEL: 'm', [name]: value };
    expect(() => loadConfig(variables)).toThrow(
      new ConfigError(`The configuration is not valid:\n  ${name}: must be the http(s) address of a proxy`),
    );
    expect(loadConfig({ ...variables, OPENAI_BASE_URL: 'http://127.0.0.1:1/v1' }).main?.model).toBe('m');
    expect(loadConfig({ [name]: value }).main).toBeNull();
  });

  it('names a bad JSON beside every other bad variable', () => {
    expect(() => loadConfig({ MAIN_EXTRA_BODY: '{', COMPACT_EXTRA_HEADERS: '{', PORT: '-1' })).toThrow(
      /PORT: .*\n {2}MAIN_EXTRA_BODY: .*\n {2}COMPACT_EXTRA_HEADERS: /,
    );
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
