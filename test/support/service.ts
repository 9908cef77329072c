import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { FastifyInstance, InjectOptions } from 'fastify';
import { pino } from 'pino';
import { afterAll, onTestFinished } from 'vitest';
import type { ChatMessage } from '../../src/compaction/measure.js';
import { type EnvironmentVariables, loadConfig } from '../../src/config.js';
import { createApp } from '../../src/create-app.js';
import { dropDatabasesIn } from './postgres.js';
import { sqlAt } from './sql.js';
import { databaseUrlOf, onTestedStore } from './tested-store.js';

export interface Answer<Body> {
  readonly status: number;
  readonly headers: Readonly<Record<string, unknown>>;
  readonly body: Body;
  readonly text: string;
}

export interface SessionBody {
  id: string;
  agent: string | null;
  kind: string;
  status: string;
  title: string | null;
  metadata: object | null;
  compact_summary: string | null;
  compact_size: number;
  compact_count: number;
  message_count: number;
  auto_compaction: AutoCompactionBody;
  revision: number;
  version: number;
  created_at: string;
  updated_at: string;
  closed_at: string | null;
}

export interface AutoCompactionBody {
  state: string;
  failures: number;
  error: string | null;
}

export interface CompactionBody {
  id: string;
  predecessor_id: string | null;
  outcome: string;
  error_code: string | null;
  error_detail: string | null;
  from_size: number;
  to_size: number;
  summary: string | null;
  chars_before: number;
  chars_after: number;
  model: string;
  requests: number;
  usage: { input_tokens: number | null; output_tokens: number | null };
  finished_at: string | null;
}

/**
 * The members of all answers, in one: which are there depends on the operation, and a test that looks at one
 * that is not gets undefined, which its assertion refuses.
 */
export interface AnyBody extends SessionBody {
  data: (SessionBody &
    CompactionBody & { seq: number; position: number | null; chars: number; message: ChatMessage })[];
  next_cursor: string | null;
  has_more: boolean;
  messages: ChatMessage[];
  summary_chars: number;
  tail_count: number;
  chars: number;
  estimated_tokens: number;
  sessionId: string;
  compactedCount: number;
  newSize: number;
  alreadyUpToDate: boolean;
  reason?: string;
  toolCalls?: { id: string }[];
  dryRun?: boolean;
  charsBefore?: number;
  charsFolded?: number;
  charsAfterAtMost?: number;
  lastCompactedAt?: string | null;
  session: SessionBody;
  compaction: CompactionBody;
  code: string;
  detail: string;
  retryable: boolean;
  errors: { in: string; pointer: string; message: string }[];
}

export interface TestService {
  readonly app: FastifyInstance;
  /** The SQLite file, or what stands for a database of the server: `startService({}, file)` opens it again. */
  readonly file: string;
  /** Sends a request without a socket; a string or Buffer as `body` goes out as it is, under a JSON type. */
  call(
    method: InjectOptions['method'],
    path: string,
    body?: unknown,
    headers?: Record<string, string>,
  ): Promise<Answer<AnyBody>>;
  /** Defines an agent. Gives its name. */
  agent(name: string, definition?: object): Promise<string>;
  /** Creates a session with these messages, however many. Gives its id. */
  session(messages: readonly ChatMessage[], fields?: object): Promise<string>;
  compact(id: string, body?: object): Promise<Answer<AnyBody>>;
  /** The messages of the context. */
  view(id: string): Promise<ChatMessage[]>;
  /** All messages of the session as they were given. */
  messages(id: string): Promise<ChatMessage[]>;
  /** Runs SQL on a connection of its own, as old data or another program would have it. */
  sql(statement: string, ...params: unknown[]): unknown[];
  close(): Promise<void>;
}

/** A temporary folder that is removed when the test has passed or failed. */
export function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'compactd-test-'));
  onTestFinished(() => removeFolder(folder));
  return folder;
}

async function removeFolder(folder: string): Promise<void> {
  rmSync(folder, { recursive: true, force: true });
  await dropDatabasesIn(folder);
}

/** Variables that point the service at a stubbed model; retries and window discovery are off unless set. */
export function modelAt(url: string, variables: EnvironmentVariables = {}): EnvironmentVariables {
  return {
    OPENAI_BASE_URL: url,
    COMPACT_MODEL: 'stub-1',
    COMPACT_RETRIES: '0',
    WINDOW_DISCOVERY: 'off',
    ...variables,
  };
}

/** The service as production builds it, on a real database, without a socket; closes with the test. */
export async function startService(
  variables: EnvironmentVariables = {},
  file?: string,
): Promise<TestService> {
  const service = await openService(variables, file ?? join(temporaryFolder(), 'compactd.db'));
  onTestFinished(() => service.close());
  return service;
}

/** One service for a table of tests that leave no trace in it; starts with the first, closes after the last. */
export function sharedService(variables: EnvironmentVariables = {}): () => Promise<TestService> {
  const folder = mkdtempSync(join(tmpdir(), 'compactd-test-'));
  let service: Promise<TestService> | undefined;
  afterAll(async () => {
    await (await service)?.close();
    await removeFolder(folder);
  });
  return () => {
    service ??= openService(variables, join(folder, 'compactd.db'));
    return service;
  };
}

async function openService(variables: EnvironmentVariables, path: string): Promise<TestService> {
  const databaseUrl = await databaseUrlOf(path);
  const given = await onTestedStore({ DATABASE_URL: `file:${path}`, SHUTDOWN_GRACE_MS: '0', ...variables });
  const config = loadConfig(given);
  const app = await createApp(config, pino({ level: 'silent' }));

  const call: TestService['call'] = async (method, url, body, headers = {}) => {
    const raw = typeof body === 'string' || Buffer.isBuffer(body);
    const payload = body === undefined ? {} : { payload: raw ? body : JSON.stringify(body) };
    const type = body === undefined ? {} : { 'content-type': 'application/json' };
    const options: InjectOptions = {
      method: method ?? 'GET',
      url,
      ...payload,
      headers: { ...type, ...headers },
    };
    const response = await app.inject(options);
    const json = String(response.headers['content-type'] ?? '').includes('json');
    return {
      status: response.statusCode,
      headers: response.headers,
      body: JSON.parse(json ? response.body : '{}'),
      text: response.body,
    };
  };

  return {
    app,
    file: path,
    call,
    async agent(name, definition = {}) {
      const put = await call('PUT', `/agents/${name}`, definition);
      if (put.status > 201) throw new Error(put.text);
      return name;
    },
    async session(messages, fields = {}) {
      const created = await call('POST', '/sessions', { ...fields, messages: messages.slice(0, 1_000) });
      if (created.status !== 201) throw new Error(created.text);
      for (let i = 1_000; i < messages.length; i += 1_000) {
        await call('POST', `/sessions/${created.body.id}/messages`, {
          messages: messages.slice(i, i + 1_000),
        });
      }
      return created.body.id;
    },
    compact: (id, body) => call('POST', `/sessions/${id}/compact`, body),
    async view(id) {
      return (await call('GET', `/sessions/${id}/context`)).body.messages;
    },
    async messages(id) {
      const all: ChatMessage[] = [];
      for (let url = `/sessions/${id}/messages?limit=200`; ; ) {
        const { body } = await call('GET', url);
        all.push(...body.data.map(({ message }: { message: ChatMessage }) => message));
        if (!body.has_more) return all;
        url = `/sessions/${id}/messages?limit=200&cursor=${body.next_cursor}`;
      }
    },
    sql: (statement, ...params) => sqlAt(databaseUrl, statement, ...params),
    close: async () => {
      await app.close();
    },
  };
}
