import { onTestFinished } from 'vitest';
import type { ChatMessage } from '../../src/compaction/measure.js';
import type { EnvironmentVariables } from '../../src/config.js';
import { type ModelStub, type StubReply, type StubScript, startModelStub } from './model-stub.js';
import { type AnyBody, modelAt, startService, type TestService } from './service.js';
import { strictViolation } from './strict.js';

/** A model endpoint that takes only what the strictest servers take; a test in which it refuses anything fails. */
export async function startStrictModel(script: StubScript): Promise<ModelStub> {
  const violations: string[] = [];
  const stub = await startModelStub((prompt, index, request) => {
    const { messages }: { messages: ChatMessage[] } = JSON.parse(request.body);
    const violation = strictViolation(messages);
    if (violation === null) return script(prompt, index, request);
    violations.push(violation);
    return { status: 400, body: { error: { message: violation } } };
  });
  onTestFinished(() => {
    if (violations.length > 0) throw new Error(`The endpoint refused: ${violations.join('; ')}`);
  });
  return stub;
}

/** Gives each request the next of these replies, and the last one from then on. */
export const inTurn =
  (...replies: readonly StubReply[]): StubScript =>
  (_, index) =>
    replies[Math.min(index, replies.length - 1)] ?? {};

export interface Chat {
  readonly service: TestService;
  /** What agents talk to. */
  readonly model: ModelStub;
  /** What writes the summaries. */
  readonly summarizer: ModelStub;
  /** A chat request to the agent `clerk`. */
  say(body: object, key?: string): Promise<Awaited<ReturnType<TestService['call']>>>;
}

export const PROMPT = 'You sell ferry tickets.';

/** A service with the agent `clerk`, a strict endpoint for it and another one that writes summaries. */
export async function startChat(
  script: StubScript,
  options: {
    readonly agent?: object;
    readonly variables?: EnvironmentVariables;
    readonly summaries?: StubScript;
  } = {},
): Promise<Chat> {
  const model = await startStrictModel(script);
  const summarizer = await startStrictModel(
    options.summaries ?? ((_, index) => ({ content: `S${index + 1}` })),
  );
  const service = await startService(chatAt(model.url, summarizer.url, options.variables));
  await service.agent('clerk', { systemPrompt: PROMPT, ...options.agent });
  return {
    service,
    model,
    summarizer,
    say: (body, key) =>
      service.call('POST', '/agents/clerk/chat', body, key === undefined ? {} : { 'idempotency-key': key }),
  };
}

/** Variables of a service that chats with one endpoint and has summaries written by another; without retries. */
export function chatAt(
  url: string,
  summaries: string,
  variables: EnvironmentVariables = {},
): EnvironmentVariables {
  const roles = { MAIN_MODEL: 'stub-1', MAIN_RETRIES: '0', COMPACT_BASE_URL: summaries };
  return modelAt(url, { ...roles, ...variables });
}

/** What a request to the endpoint held. */
export const sent = ({ bodies }: ModelStub, index: number): unknown[] => bodies[index]?.messages ?? [];

export interface ChatEventLine {
  readonly event: string;
  readonly data: AnyBody & { text: string; message: ChatMessage };
}

/** The events of a stream, comments left out. */
export function eventsOf(text: string): ChatEventLine[] {
  return text
    .split('\n\n')
    .filter((block) => block.includes('event: '))
    .map((block) => {
      const { event = '', data = '{}' } =
        /^event: (?<event>.*)\ndata: (?<data>.*)$/.exec(block)?.groups ?? {};
      return { event, data: JSON.parse(data) };
    });
}
