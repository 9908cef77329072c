import { onTestFinished } from 'vitest';
import { type ChatClient, type ChatClientOptions, createChatClient } from '../../src/llm/client.js';
import type { EndpointConfig } from '../../src/llm/endpoint.js';
import type { CallResult } from '../../src/llm/outcome.js';
import {
  type RawResponse,
  type RawScript,
  type RawServer,
  rawResponse,
  startRawServer,
} from '../support/raw-server.js';

export function endpoint(baseUrl: string, overrides: Partial<EndpointConfig> = {}): EndpointConfig {
  return {
    baseUrl,
    apiKey: 'test-key-1234567890',
    authHeader: 'bearer',
    extraHeaders: {},
    extraBody: {},
    apiVersion: null,
    model: 'test-model',
    windowTokens: null,
    maxOutputTokens: null,
    connectTimeoutMs: 5_000,
    firstByteTimeoutMs: 5_000,
    silenceTimeoutMs: 5_000,
    totalTimeoutMs: 20_000,
    retries: 0,
    ...overrides,
  };
}

/** A client that is closed when the test ends. */
export function clientFor(
  baseUrl: string,
  overrides: Partial<EndpointConfig> = {},
  options: ChatClientOptions = {},
): ChatClient {
  const client = createChatClient(endpoint(baseUrl, overrides), options);
  onTestFinished(() => client.close());
  return client;
}

/** A raw server that is stopped when the test ends. */
export async function serve(script: RawScript): Promise<RawServer> {
  const server = await startRawServer(script);
  onTestFinished(() => server.stop());
  return server;
}

/** A raw server that gives each request the next of these responses, and the last one from then on. */
export function serveResponses(...responses: readonly RawResponse[]): Promise<RawServer> {
  return serve((connection, { index }) => {
    connection.write(rawResponse(responses[Math.min(index, responses.length - 1)] ?? {}));
  });
}

export function ask(
  client: ChatClient,
  signal: AbortSignal = new AbortController().signal,
): Promise<CallResult> {
  return client.complete({ messages: [{ role: 'user', content: 'Hello' }], signal });
}

/** What one answer with these bytes as its body comes to. */
export async function answerOf(
  response: RawResponse,
  overrides: Partial<EndpointConfig> = {},
): Promise<CallResult> {
  const server = await serveResponses(response);
  return ask(clientFor(server.url, overrides));
}

export const EVENT_STREAM = { 'content-type': 'text/event-stream' };

export const delta = (content: unknown, more: Record<string, unknown> = {}): string =>
  JSON.stringify({ choices: [{ index: 0, delta: { content }, ...more }] });

export const finish = (reason: string | null = 'stop'): string =>
  JSON.stringify({ choices: [{ index: 0, delta: {}, finish_reason: reason }] });

/** Events as a body, one for each document. */
export const events = (...documents: readonly string[]): string =>
  documents.map((document) => `data: ${document}\n\n`).join('');

/** A small complete stream with the text `Hello`. */
export const HELLO = events(delta('Hel'), delta('lo'), finish(), '[DONE]');

export const completed = (text: string, finishReason: string | null = 'stop') => ({
  kind: 'ok',
  text,
  finishReason,
  refusal: null,
  toolCalls: [],
  model: null,
});

export const okJson = (text: string): string =>
  JSON.stringify({
    choices: [{ index: 0, message: { role: 'assistant', content: text }, finish_reason: 'stop' }],
  });
