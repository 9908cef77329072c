import { onTestFinished } from 'vitest';
import {
  type RawConnection,
  type RawRequest,
  type RawServer,
  rawResponse,
  rawStreamHead,
  startRawServer,
} from './raw-server.js';

/** One answer of a stubbed model endpoint. */
export interface StubReply {
  /** A 200 with this text, finish_reason `stop` unless `finish` says otherwise; null content for null. */
  readonly content?: string | null | readonly object[];
  readonly finish?: string | null;
  /** Members of the message beside role and content. */
  readonly message?: object;
  /** Tokens in and out; `null` leaves usage out. The default is 100 and 10. */
  readonly usage?: readonly [number, number] | null | object;
  /** Another status, with this body. */
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: unknown;
  /** Waits before answering, in ms. */
  readonly delayMs?: number;
  /** Says nothing at all, or nothing more after `stream`, and keeps the connection. */
  readonly hang?: boolean;
  /** An event stream instead of one document: each entry is the data of an event, a number a pause in ms. */
  readonly stream?: readonly (string | object | number)[];
}

export interface ModelStub {
  readonly url: string;
  readonly server: RawServer;
  /** The prompts received, in order: the content of the last message. */
  readonly prompts: readonly string[];
  /** The bodies received, parsed. */
  readonly bodies: readonly { messages: { role: string; content: string }[]; [field: string]: unknown }[];
}

export type StubScript = (
  prompt: string,
  index: number,
  request: RawRequest,
) => StubReply | Promise<StubReply>;

/** A real HTTP server that speaks chat completions and answers as the script says; stops with the test. */
export async function startModelStub(script: StubScript): Promise<ModelStub> {
  const prompts: string[] = [];
  const bodies: ModelStub['bodies'][number][] = [];
  const server = await startRawServer(async (connection, request) => {
    if (request.method !== 'POST') {
      connection.write(rawResponse({ status: 404, body: '{}' }));
      return;
    }
    const body: ModelStub['bodies'][number] = JSON.parse(request.body);
    const prompt = body.messages.at(-1)?.content ?? '';
    prompts.push(prompt);
    bodies.push(body);
    await answer(connection, await script(prompt, prompts.length - 1, request));
  });
  onTestFinished(() => server.stop());
  return { url: server.url, server, prompts, bodies };
}

async function answer(connection: RawConnection, reply: StubReply): Promise<void> {
  if (reply.delayMs !== undefined) await connection.pause(reply.delayMs);
  if (reply.stream !== undefined) {
    await stream(connection, reply.stream);
    if (!reply.hang) connection.end();
  }
  if (reply.hang || reply.stream !== undefined) {
    await connection.closed;
    return;
  }
  const { status = 200, headers = {} } = reply;
  const body = reply.body ?? completion(reply);
  connection.write(
    rawResponse({ status, headers, body: typeof body === 'string' ? body : JSON.stringify(body) }),
  );
}

async function stream(
  connection: RawConnection,
  events: readonly (string | object | number)[],
): Promise<void> {
  connection.write(rawStreamHead());
  for (const event of events) {
    if (connection.isClosed) return;
    if (typeof event === 'number') await connection.pause(event);
    else connection.write(`data: ${typeof event === 'string' ? event : JSON.stringify(event)}\n\n`);
  }
}

/** Data of stream events: pieces of text, fragments of tool calls, the end with usage. */
export const delta = (content: string): object => ({ choices: [{ index: 0, delta: { content } }] });
export const callDelta = (...fragments: readonly object[]): object => ({
  choices: [{ index: 0, delta: { tool_calls: fragments } }],
});
export const finished = (reason = 'stop', usage: readonly [number, number] = [100, 10]): object => ({
  choices: [{ index: 0, delta: {}, finish_reason: reason }],
  usage: { prompt_tokens: usage[0], completion_tokens: usage[1], total_tokens: usage[0] + usage[1] },
});

/** A reply that calls tools: each entry is id, name and arguments. */
export function calling(...calls: readonly (readonly [string, string, string?])[]): StubReply {
  return {
    content: null,
    finish: 'tool_calls',
    message: {
      tool_calls: calls.map(([id, name, args = '{}']) => ({
        id,
        type: 'function',
        function: { name, arguments: args },
      })),
    },
  };
}

function completion({ content = '', finish = 'stop', message = {}, usage = [100, 10] }: StubReply): object {
  const counted = Array.isArray(usage)
    ? { prompt_tokens: usage[0], completion_tokens: usage[1], total_tokens: usage[0] + usage[1] }
    : usage;
  return {
    id: 'chatcmpl-1',
    object: 'chat.completion',
    model: 'stub-1',
    choices: [{ index: 0, message: { role: 'assistant', content, ...message }, finish_reason: finish }],
    ...(usage === null ? {} : { usage: counted }),
  };
}

/** The 400 that a model answers when its window is too small. */
export const OVERFLOW: StubReply = {
  status: 400,
  body: {
    error: {
      message: 'The prompt is too long',
      type: 'invalid_request_error',
      code: 'context_length_exceeded',
    },
  },
};
