import { describe, expect, test } from 'vitest';
import type { ChatCall } from '../../src/llm/chat-call.js';
import type { EndpointConfig } from '../../src/llm/endpoint.js';
import type { ChatTool } from '../../src/llm/request-tools.js';
import { type RawScript, rawResponse, rawStreamHead } from '../support/raw-server.js';
import { clientFor, delta, EVENT_STREAM, events, finish, HELLO, okJson, serve } from './harness.js';

const OK = { headers: EVENT_STREAM, body: HELLO };
const TOOL: ChatTool = {
  type: 'function',
  function: { name: 'book', description: 'Books a berth', parameters: { type: 'object', properties: {} } },
};

/** A turn against a server with this script: what it came to, the pieces of text it handed out, what was sent. */
async function turn(script: RawScript, call: Partial<ChatCall> = {}, settings: Partial<EndpointConfig> = {}) {
  const server = await serve(script);
  const pieces: string[] = [];
  const client = clientFor(server.url, { retries: 2, ...settings }, { sleep: async () => {} });
  const result = await client.complete({
    messages: [{ role: 'user', content: 'Hello' }],
    onText: (text) => pieces.push(text),
    signal: new AbortController().signal,
    ...call,
  });
  const bodies = server.requests.map(({ body }): Record<string, unknown> => JSON.parse(body));
  return { ...result, pieces, bodies, client };
}

const answering =
  (...responses: Parameters<typeof rawResponse>): RawScript =>
  (connection) =>
    connection.write(rawResponse(...responses));
const callsDelta = (...calls: readonly object[]): string =>
  JSON.stringify({ choices: [{ index: 0, delta: { content: null, tool_calls: calls } }] });

describe('a turn with tools', () => {
  test('sends the history as it is, the tools, and what the call says instead of the settings', async () => {
    const messages = [
      { role: 'user', content: [{ type: 'text', text: 'Book berth 12' }] },
      {
        role: 'assistant',
        content: null,
        tool_calls: [
          { id: 'a', type: 'function', function: { name: 'book', arguments: '{}' }, extra_content: { x: 1 } },
        ],
        reasoning_content: 'hm',
      },
      { role: 'tool', tool_call_id: 'a', content: 'done' },
    ];
    const { bodies } = await turn(
      answering(OK),
      {
        messages,
        tools: [TOOL],
        toolChoice: 'required',
        model: 'other',
        temperature: 0,
        maxOutputTokens: 50,
      },
      { extraBody: { temperature: 1, parallel_tool_calls: false }, maxOutputTokens: 100 },
    );
    expect(bodies).toEqual([
      {
        model: 'other',
        messages,
        stream: true,
        stream_options: { include_usage: true },
        max_tokens: 50,
        temperature: 0,
        parallel_tool_calls: false,
        tools: [TOOL],
        tool_choice: 'required',
      },
    ]);
  });

  test.each([undefined, []])('without any (%j) no option of tools is sent', async (tools) => {
    const { bodies } = await turn(
      answering(OK),
      { tools, toolChoice: 'auto' },
      { extraBody: { parallel_tool_calls: false, tool_choice: 'none' } },
    );
    expect(Object.keys(bodies[0] ?? {})).toEqual(['model', 'messages', 'stream', 'stream_options']);
  });

  test('ends with text, calls, finish reason, usage, model, and what the provider wants back', async () => {
    const body = events(
      JSON.stringify({
        model: 'm-1',
        choices: [{ index: 0, delta: { reasoning_content: 'It wants ', reasoning: 'It wants ' } }],
      }),
      JSON.stringify({ choices: [{ index: 0, delta: { reasoning_content: 'a berth.' } }] }),
      delta('I will '),
      delta('book.'),
      callsDelta({
        index: 0,
        id: 'a',
        type: 'function',
        function: { name: 'book', arguments: '{"n":' },
        extra_content: { google: { thought_signature: 's' } },
      }),
      callsDelta(
        { index: 0, function: { arguments: '12}' } },
        { index: 1, id: 'b', function: { name: 'look', arguments: '' } },
      ),
      finish('tool_calls'),
      JSON.stringify({ choices: [], usage: { prompt_tokens: 9, completion_tokens: 4 } }),
      '[DONE]',
    );
    const { outcome, usage, requests, pieces } = await turn(answering({ headers: EVENT_STREAM, body }), {
      tools: [TOOL],
    });
    expect({ outcome, usage, requests }).toEqual({
      outcome: {
        kind: 'ok',
        text: 'I will book.',
        finishReason: 'tool_calls',
        refusal: null,
        toolCalls: [
          {
            id: 'a',
            name: 'book',
            arguments: '{"n":12}',
            extra: { extra_content: { google: { thought_signature: 's' } } },
          },
          { id: 'b', name: 'look', arguments: '{}' },
        ],
        reasoning: 'It wants a berth.',
        model: 'm-1',
      },
      usage: { inputTokens: 9, outputTokens: 4 },
      requests: 1,
    });
    expect(pieces.join('')).toBe('I will book.');
  });

  test.each(['tool_choice', 'parallel_tool_calls', 'temperature'])(
    '%s is left out where it is refused',
    async (name) => {
      const { outcome, bodies } = await turn(
        (connection, { body }) =>
          connection.write(
            rawResponse(
              name in JSON.parse(body)
                ? { status: 400, body: JSON.stringify({ error: { message: 'Unsupported', param: name } }) }
                : OK,
            ),
          ),
        { tools: [TOOL], toolChoice: 'auto', temperature: 0 },
        { extraBody: { parallel_tool_calls: false } },
      );
      expect(outcome).toMatchObject({ kind: 'ok' });
      expect(bodies.map((body) => [name in body, 'tools' in body])).toEqual([
        [true, true],
        [false, true],
      ]);
    },
  );
});

describe('the text of a turn', () => {
  test('is handed out while it comes', async () => {
    const seen: number[] = [];
    let written = 0;
    const { pieces, outcome } = await turn(
      async (connection) => {
        connection.write(rawStreamHead());
        for (const piece of ['one ', 'two ', 'three']) {
          connection.write(events(delta(piece)));
          written += 1;
          await connection.pause(60);
        }
        connection.write(events(finish(), '[DONE]'));
        connection.end();
      },
      { onText: undefined },
    ).then(async (first) => {
      // Once more with an ear on it: each piece must be there before the next one is written.
      written = 0;
      const pieces: string[] = [];
      const { outcome } = await first.client.complete({
        messages: [],
        onText: (text) => {
          pieces.push(text);
          seen.push(written);
        },
        signal: new AbortController().signal,
      });
      return { pieces, outcome };
    });
    expect(pieces).toEqual(['one ', 'two ', 'three']);
    expect(seen).toEqual([1, 2, 3]);
    expect(outcome).toMatchObject({ kind: 'ok', text: 'one two three' });
  });

  test('is handed out whole when no stream comes', async () => {
    expect((await turn(answering({ body: okJson('Hello') }))).pieces).toEqual(['Hello']);
  });

  test('is all of the text also when the connection breaks after it', async () => {
    const { outcome, pieces } = await turn((connection) => {
      connection.write(rawStreamHead() + events(delta('Hel'), delta('lo'), finish()));
      connection.reset();
    });
    expect(outcome).toMatchObject({ kind: 'ok', text: 'Hello' });
    expect(pieces.join('')).toBe('Hello');
  });

  test.each<[string, RawScript, string]>([
    ['a lost connection', (connection) => connection.reset(), 'incomplete'],
    ['an end without an end', (connection) => connection.end(), 'incomplete'],
    [
      'an error in the stream',
      async (connection) => {
        connection.write(events(JSON.stringify({ error: { code: 503, message: 'Overloaded' } })));
        connection.end();
      },
      'unavailable',
    ],
    [
      'a refused parameter in the stream',
      async (connection) => {
        connection.write(
          events(JSON.stringify({ error: { code: 400, message: 'x', param: 'stream_options' } })),
        );
        connection.end();
      },
      'bad_request',
    ],
  ])('that was handed out is never sent for again: %s', async (_name, fail, kind) => {
    const { outcome, requests, pieces } = await turn(async (connection, request) => {
      connection.write(rawStreamHead() + events(delta('Hel')));
      await connection.pause(50);
      await fail(connection, request);
    });
    expect(outcome).toMatchObject({ kind });
    expect(requests).toBe(1);
    expect(pieces).toEqual(['Hel']);
  });

  test.each<[string, RawScript]>([
    ['a refusal by status', (connection) => connection.write(rawResponse({ status: 503 }))],
    [
      'an error right behind the text',
      (connection) => {
        connection.write(
          rawStreamHead() + events(delta('Hel'), JSON.stringify({ error: { code: 503, message: 'x' } })),
        );
        connection.end();
      },
    ],
    [
      'an error beside the text, without a stream',
      (connection) =>
        connection.write(
          rawResponse({
            body: JSON.stringify({
              error: { code: 503, message: 'x' },
              choices: [{ message: { content: 'Hel' } }],
            }),
          }),
        ),
    ],
  ])('that was not yet handed out may be sent for again: %s', async (_name, fail) => {
    const { outcome, requests, pieces } = await turn((connection, request) =>
      request.index === 0 ? fail(connection, request) : connection.write(rawResponse(OK)),
    );
    expect(outcome).toMatchObject({ kind: 'ok', text: 'Hello' });
    expect(requests).toBe(2);
    expect(pieces.join('')).toBe('Hello');
  });

  test('is not handed out after a cancel', async () => {
    const abort = new AbortController();
    const pieces: string[] = [];
    const { outcome } = await turn(
      (connection) => {
        connection.write(rawStreamHead() + events(delta('a')));
        return connection.pause(50).then(() => connection.write(events(delta('b'), finish(), '[DONE]')));
      },
      {
        signal: abort.signal,
        onText: (text) => {
          pieces.push(text);
          abort.abort();
        },
      },
    );
    expect(outcome).toMatchObject({ kind: 'aborted' });
    expect(pieces).toEqual(['a']);
  });

  test('a listener that throws ends the call, and nothing else', async () => {
    const { outcome, requests } = await turn(answering(OK), {
      onText: () => {
        throw new Error('bug');
      },
    });
    expect(outcome).toMatchObject({ kind: 'aborted' });
    expect(requests).toBe(1);
  });
});
