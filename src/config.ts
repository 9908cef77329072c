import { type Static, Type } from 'typebox';
import { Value } from 'typebox/value';
import { POSTGRES_DEFAULTS, type PostgresSettings } from './db/postgres/settings.js';
import { isLoopback } from './http/plugins/origin-guard.js';
import { type EndpointConfig, isSameModel } from './llm/endpoint.js';
import { endpointFaults } from './llm/endpoint-faults.js';
import { extraBodyIn, extraHeadersIn } from './llm/extra-settings.js';
import { needsProxies, proxyFaults } from './llm/proxies.js';

/**
 * The environment, parsed once. Every variable is here, with its default and its range; `.env.example` lists
 * the same. An empty variable counts as absent, as shells and compose files set them.
 */

const ms = (defaultMs: number, description: string) =>
  Type.Integer({ minimum: 1, maximum: 86_400_000, default: defaultMs, description });
const optionalMs = Type.Optional(Type.Integer({ minimum: 1, maximum: 86_400_000 }));
const optionalCount = Type.Optional(Type.Integer({ minimum: 1 }));
const AuthHeader = Type.Optional(Type.Enum(['bearer', 'api-key', 'none']));

const Environment = Type.Object({
  HOST: Type.String({ default: '127.0.0.1', minLength: 1 }),
  PORT: Type.Integer({ default: 5050, minimum: 0, maximum: 65_535 }),
  DATABASE_URL: Type.String({
    default: 'file:./data/compactd.db',
    pattern: '^(file:.+|postgres(ql)?://.+)',
  }),
  DATABASE_POOL_SIZE: Type.Integer({ default: POSTGRES_DEFAULTS.poolSize, minimum: 2, maximum: 1_000 }),
  DATABASE_POOLER: Type.Enum(['none', 'transaction'], { default: 'none' }),
  DATABASE_CONNECT_TIMEOUT_MS: ms(POSTGRES_DEFAULTS.connectTimeoutMs, 'until a connection is free'),
  DATABASE_STATEMENT_TIMEOUT_MS: ms(POSTGRES_DEFAULTS.statementTimeoutMs, 'for one statement'),
  DATABASE_LOCK_TIMEOUT_MS: ms(POSTGRES_DEFAULTS.lockTimeoutMs, 'for one lock'),
  DATABASE_IDLE_TRANSACTION_TIMEOUT_MS: ms(
    POSTGRES_DEFAULTS.idleTransactionTimeoutMs,
    'how long a paused process may hold its locks',
  ),
  MIGRATE_ON_BOOT: Type.Enum(['true', 'false'], { default: 'false' }),
  LOG_LEVEL: Type.Enum(['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'], { default: 'info' }),
  AUTH: Type.Optional(Type.Enum(['none'])),
  ALLOWED_HOSTS: Type.String({ default: '' }),
  AGENTS_DIR: Type.Optional(Type.String()),
  BODY_LIMIT: Type.Integer({ default: 16 * 1024 * 1024, minimum: 1024, maximum: 256 * 1024 * 1024 }),
  SHUTDOWN_GRACE_MS: Type.Integer({ default: 10_000, minimum: 0, maximum: 3_600_000 }),
  CONTEXT_CACHE_BYTES: Type.Integer({ default: 64 * 1024 * 1024, minimum: 0 }),

  SUMMARY_MAX_CHARS: Type.Integer({ default: 12_000, minimum: 200, maximum: 1_000_000 }),
  SUMMARY_CHUNK_CHARS: Type.Integer({ default: 60_000, minimum: 1_000, maximum: 10_000_000 }),
  TOOL_RESULT_CHARS: Type.Integer({ default: 16_000, minimum: 100, maximum: 10_000_000 }),
  COMPACTION_LEASE_MS: ms(30_000, 'how long a crash may block the compaction of a session'),

  WINDOW_DISCOVERY: Type.Enum(['on', 'off'], { default: 'on' }),

  OPENAI_BASE_URL: Type.Optional(Type.String()),
  OPENAI_API_KEY: Type.Optional(Type.String()),
  MAIN_AUTH_HEADER: AuthHeader,
  MAIN_API_VERSION: Type.Optional(Type.String()),
  MAIN_EXTRA_HEADERS: Type.Optional(Type.String()),
  MAIN_EXTRA_BODY: Type.Optional(Type.String()),
  MAIN_MODEL: Type.Optional(Type.String()),
  MAIN_WIRE: Type.Enum(['plain', 'strict'], { default: 'plain' }),
  MAIN_WINDOW_TOKENS: optionalCount,
  MAIN_MAX_OUTPUT_TOKENS: optionalCount,
  MAIN_CONNECT_TIMEOUT_MS: ms(10_000, 'to connect'),
  MAIN_FIRST_BYTE_TIMEOUT_MS: ms(300_000, 'until the answer begins: local servers queue for minutes'),
  MAIN_SILENCE_TIMEOUT_MS: ms(120_000, 'without a data event'),
  MAIN_TOTAL_TIMEOUT_MS: ms(900_000, 'for one request as a whole'),
  MAIN_RETRIES: Type.Integer({ default: 2, minimum: 0, maximum: 10 }),

  COMPACT_BASE_URL: Type.Optional(Type.String()),
  COMPACT_API_KEY: Type.Optional(Type.String()),
  COMPACT_AUTH_HEADER: AuthHeader,
  COMPACT_API_VERSION: Type.Optional(Type.String()),
  COMPACT_EXTRA_HEADERS: Type.Optional(Type.String()),
  COMPACT_EXTRA_BODY: Type.Optional(Type.String()),
  COMPACT_MODEL: Type.Optional(Type.String()),
  COMPACT_FALLBACK: Type.Optional(Type.Enum(['main'])),
  COMPACT_WINDOW_TOKENS: optionalCount,
  COMPACT_MAX_OUTPUT_TOKENS: optionalCount,
  COMPACT_CONNECT_TIMEOUT_MS: optionalMs,
  COMPACT_FIRST_BYTE_TIMEOUT_MS: optionalMs,
  COMPACT_SILENCE_TIMEOUT_MS: optionalMs,
  COMPACT_TOTAL_TIMEOUT_MS: optionalMs,
  COMPACT_RETRIES: Type.Optional(Type.Integer({ minimum: 0, maximum: 10 })),
});

type Environment = Static<typeof Environment>;

export type EnvironmentVariables = Readonly<Record<string, string | undefined>>;

/** The names of all variables, for the documentation and its test. */
export const VARIABLE_NAMES: readonly string[] = Object.keys(Environment.properties);

export interface Config {
  readonly host: string;
  readonly port: number;
  readonly databaseUrl: string;
  /** Of a PostgreSQL database; a SQLite file is always migrated. */
  readonly migrateOnBoot: boolean;
  readonly postgres: PostgresSettings;
  readonly logLevel: string;
  readonly allowedHosts: readonly string[];
  /** Folder with a file for each agent that is to be there from the start; null without one. */
  readonly agentsDir: string | null;
  readonly bodyLimit: number;
  readonly shutdownGraceMs: number;
  readonly contextCacheBytes: number;
  readonly summaryMaxChars: number;
  /** Transcript chars per call to a model whose window is not known. */
  readonly summaryChunkChars: number;
  readonly toolResultChars: number;
  readonly compactionLeaseMs: number;
  /** Whether messages for main are also brought into the form that the strictest endpoints want. */
  readonly strictWire: boolean;
  /** Whether main writes a summary when the endpoint of compact fails. */
  readonly compactFallback: boolean;
  /** Whether endpoints are asked for the windows that are not configured. */
  readonly windowDiscovery: boolean;
  /** The endpoint that agents talk to; null when it has no model. */
  readonly main: EndpointConfig | null;
  /** The endpoint that writes summaries; null means the embedded summarizer. */
  readonly compact: EndpointConfig | null;
  /** Settings that are probably not meant, one sentence each. */
  readonly warnings: readonly string[];
}

/**
 * Thrown when the environment, or a file that it names, is not valid; the message lists all that is wrong. Values of
 * variables are not repeated.
 */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';
}

export function loadConfig(variables: EnvironmentVariables): Config {
  const env = parse(variables);
  const allowedHosts = env.ALLOWED_HOSTS.split(',')
    .map((host) => host.trim())
    .filter((host) => host !== '');
  const main = mainEndpoint(env);
  const compact = compactEndpoint(env);
  const proxied = [main, compact].some((endpoint) => endpoint !== null && needsProxies(endpoint.baseUrl));
  const proxyProblems = proxied ? proxyFaults(variables) : [];
  if (proxyProblems.length > 0) throw invalid(proxyProblems);
  const warnings: string[] = [];
  if (compact === null && (env.OPENAI_BASE_URL !== undefined || env.COMPACT_BASE_URL !== undefined)) {
    warnings.push('A base URL is set but no model: set MAIN_MODEL or COMPACT_MODEL to use it');
  }
  const compactFallback = env.COMPACT_FALLBACK === 'main';
  if (compactFallback && main !== null && compact !== null && isSameModel(main, compact)) {
    warnings.push(
      'COMPACT_FALLBACK=main changes nothing: main is the model that writes the summaries anyway',
    );
  }
  return Object.freeze({
    host: env.HOST,
    port: env.PORT,
    databaseUrl: env.DATABASE_URL,
    migrateOnBoot: env.MIGRATE_ON_BOOT === 'true',
    postgres: {
      poolSize: env.DATABASE_POOL_SIZE,
      connectTimeoutMs: env.DATABASE_CONNECT_TIMEOUT_MS,
      statementTimeoutMs: env.DATABASE_STATEMENT_TIMEOUT_MS,
      lockTimeoutMs: env.DATABASE_LOCK_TIMEOUT_MS,
      idleTransactionTimeoutMs: env.DATABASE_IDLE_TRANSACTION_TIMEOUT_MS,
      transactionPooler: env.DATABASE_POOLER === 'transaction',
    },
    logLevel: env.LOG_LEVEL,
    allowedHosts,
    agentsDir: env.AGENTS_DIR ?? null,
    bodyLimit: env.BODY_LIMIT,
    shutdownGraceMs: env.SHUTDOWN_GRACE_MS,
    contextCacheBytes: env.CONTEXT_CACHE_BYTES,
    summaryMaxChars: env.SUMMARY_MAX_CHARS,
    summaryChunkChars: env.SUMMARY_CHUNK_CHARS,
    toolResultChars: env.TOOL_RESULT_CHARS,
    compactionLeaseMs: env.COMPACTION_LEASE_MS,
    strictWire: env.MAIN_WIRE === 'strict',
    compactFallback,
    windowDiscovery: env.WINDOW_DISCOVERY === 'on',
    main,
    compact,
    warnings,
  });
}

function parse(variables: EnvironmentVariables): Environment {
  const given = Object.fromEntries(
    VARIABLE_NAMES.flatMap((name) => {
      const value = variables[name]?.trim();
      return value === undefined || value === '' ? [] : [[name, value]];
    }),
  );
  const value = Value.Convert(Environment, Value.Default(Environment, given));
  const endpointProblems = endpointFaults(given);
  if (Value.Check(Environment, value) && endpointProblems.length === 0) {
    if (value.AUTH === 'none' || isLoopback(value.HOST)) return value;
    throw invalid(['HOST: is not loopback, and there are no API keys: set AUTH=none if that is meant']);
  }
  // One by one: all errors of the whole would be cut off after a few.
  const converted: Record<string, unknown> = Object.assign({}, value);
  throw invalid([
    ...Object.entries(Environment.properties).flatMap(([name, schema]) => {
      if (!(name in converted) || Value.Check(schema, converted[name])) return [];
      const allowed =
        'enum' in schema && Array.isArray(schema.enum) ? `must be one of ${schema.enum.join(', ')}` : null;
      return [`${name}: ${allowed ?? Value.Errors(schema, converted[name])[0]?.message ?? 'is not valid'}`];
    }),
    ...endpointProblems,
  ]);
}

function invalid(problems: readonly string[]): ConfigError {
  return new ConfigError(['The configuration is not valid:', ...problems].join('\n  '));
}

function mainEndpoint(env: Environment): EndpointConfig | null {
  if (env.MAIN_MODEL === undefined) return null;
  return {
    baseUrl: mainUrl(env),
    apiKey: env.OPENAI_API_KEY ?? null,
    authHeader: env.MAIN_AUTH_HEADER ?? 'bearer',
    extraHeaders: headersOf(env.MAIN_EXTRA_HEADERS),
    extraBody: bodyOf(env.MAIN_EXTRA_BODY),
    apiVersion: env.MAIN_API_VERSION ?? null,
    model: env.MAIN_MODEL,
    windowTokens: env.MAIN_WINDOW_TOKENS ?? null,
    maxOutputTokens: env.MAIN_MAX_OUTPUT_TOKENS ?? null,
    connectTimeoutMs: env.MAIN_CONNECT_TIMEOUT_MS,
    firstByteTimeoutMs: env.MAIN_FIRST_BYTE_TIMEOUT_MS,
    silenceTimeoutMs: env.MAIN_SILENCE_TIMEOUT_MS,
    totalTimeoutMs: env.MAIN_TOTAL_TIMEOUT_MS,
    retries: env.MAIN_RETRIES,
  };
}

/**
 * `compact` takes from `main` what it does not say itself, variable by variable. What belongs to main's host, the
 * key above all, is only taken for the same origin: a key never goes to another host.
 */
function compactEndpoint(env: Environment): EndpointConfig | null {
  const model = env.COMPACT_MODEL ?? env.MAIN_MODEL;
  if (model === undefined) return null;
  const baseUrl = env.COMPACT_BASE_URL ?? mainUrl(env);
  const sameOrigin = new URL(baseUrl).origin === new URL(mainUrl(env)).origin;
  const ofMain: Partial<Environment> = sameOrigin ? env : {};
  return {
    baseUrl,
    apiKey: env.COMPACT_API_KEY ?? ofMain.OPENAI_API_KEY ?? null,
    authHeader: env.COMPACT_AUTH_HEADER ?? ofMain.MAIN_AUTH_HEADER ?? 'bearer',
    extraHeaders: headersOf(env.COMPACT_EXTRA_HEADERS ?? ofMain.MAIN_EXTRA_HEADERS),
    extraBody: bodyOf(env.COMPACT_EXTRA_BODY ?? ofMain.MAIN_EXTRA_BODY),
    apiVersion: env.COMPACT_API_VERSION ?? ofMain.MAIN_API_VERSION ?? null,
    model,
    windowTokens: env.COMPACT_WINDOW_TOKENS ?? env.MAIN_WINDOW_TOKENS ?? null,
    maxOutputTokens: env.COMPACT_MAX_OUTPUT_TOKENS ?? env.MAIN_MAX_OUTPUT_TOKENS ?? null,
    connectTimeoutMs: env.COMPACT_CONNECT_TIMEOUT_MS ?? env.MAIN_CONNECT_TIMEOUT_MS,
    firstByteTimeoutMs: env.COMPACT_FIRST_BYTE_TIMEOUT_MS ?? env.MAIN_FIRST_BYTE_TIMEOUT_MS,
    silenceTimeoutMs: env.COMPACT_SILENCE_TIMEOUT_MS ?? env.MAIN_SILENCE_TIMEOUT_MS,
    totalTimeoutMs: env.COMPACT_TOTAL_TIMEOUT_MS ?? env.MAIN_TOTAL_TIMEOUT_MS,
    retries: env.COMPACT_RETRIES ?? env.MAIN_RETRIES,
  };
}

function mainUrl(env: Environment): string {
  return env.OPENAI_BASE_URL ?? 'https://api.openai.com/v1';
}

/** `parse` has refused what cannot be read. */
function headersOf(text: string | undefined): EndpointConfig['extraHeaders'] {
  const read = extraHeadersIn(text ?? '{}');
  return 'value' in read ? read.value : {};
}

function bodyOf(text: string | undefined): EndpointConfig['extraBody'] {
  const read = extraBodyIn(text ?? '{}');
  return 'value' in read ? read.value : {};
}
