import { gzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { rawChunk, rawResponse, rawStreamHead } from '../support/raw-server.js';
import {
  answerOf,
  ask,
  clientFor,
  completed,
  delta,
  EVENT_STREAM,
  events,
  finish,
  HELLO,
  okJson,
  serve,
} from './harness.js';

const stream = (body: string | Uint8Array) => answerOf({ headers: EVENT_STREAM, body });
const json = (body: unknown) => answerOf({ body: typeof body === 'string' ? body : JSON.stringify(body) });

describe('framing of events', () => {
  const tricky = events(delta('Grüße 😀 '), delta('日本'), finish(), '[DONE]');

  test.each([
    ['LF', tricky],
    ['CRLF', tricky.replaceAll('\n', '\r\n')],
    ['CR', tricky.replaceAll('\n', '\r')],
    ['a byte order mark', `\ufeff${tricky}`],
    ['blank lines first', `\n\r\n\n${tricky}`],
    [
      'comments',
      `: OPENROUTER PROCESSING\n\n:\n\n: ping\n${tricky.replaceAll('\n\n', '\n\n: keep-alive\n\n')}`,
    ],
    ['no blank after the colon', tricky.replaceAll('data: ', 'data:')],
    ['other fields', tricky.replaceAll('data: ', 'event: message\nid: 7\nretry: 10\ndata: ')],
    ['empty data', `data:\n\ndata: \n\n${tricky}`],
    ['pings as data', `event: ping\ndata: {"type": "ping"}\n\n${tricky}`],
    ['several data lines in one event', tricky.replaceAll('{"choices"', '{\ndata: "choices"')],
    ['no blank line at the end', tricky.trimEnd()],
    ['no [DONE]', tricky.replace('data: [DONE]\n\n', '')],
    ['no [DONE] and no blank line at the end', tricky.replace('\n\ndata: [DONE]\n\n', '')],
    ['no finish reason, but [DONE]', events(delta('Grüße 😀 日本'), '[DONE]')],
    ['data after [DONE]', `${tricky}${events(delta(' more'), '{"error":{"message":"late"}}', 'junk')}`],
  ])('%s', async (_name, body) => {
    const { outcome, requests } = await stream(body);
    const reason = _name.startsWith('no finish reason') ? null : 'stop';
    expect(outcome).toEqual(completed('Grüße 😀 日本', reason));
    expect(requests).toBe(1);
  });

  test.each([
    ['LF', '\n'],
    ['CRLF', '\r\n'],
    ['CR', '\r'],
  ])('split in two at every byte, with %s', async (_name, lineEnd) => {
    const body = Buffer.from(`\ufeff${events(delta('é😀'), finish(), '[DONE]')}`.replaceAll('\n', lineEnd));
    const server = await serve(async (connection, { index }) => {
      connection.write(
        `HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ncontent-length: ${body.length}\r\n\r\n`,
      );
      connection.write(body.subarray(0, index));
      await connection.pause(1);
      connection.write(body.subarray(index));
    });
    const client = clientFor(server.url);
    for (let offset = 0; offset <= body.length; offset += 1) {
      const { outcome } = await ask(client);
      expect(outcome, `split at ${offset}`).toEqual(completed('é😀'));
    }
  });

  test('one byte per write', async () => {
    const body = Buffer.from(
      `\ufeff: hi\r\n\r\n${events(delta('é😀'), finish(), '[DONE]').replaceAll('\n', '\r\n')}`,
    );
    const server = await serve(async (connection) => {
      connection.write(rawStreamHead());
      for (const byte of body) {
        connection.write(Uint8Array.of(byte));
        await connection.pause(0);
      }
      connection.end();
    });
    expect((await ask(clientFor(server.url))).outcome).toEqual(completed('é😀'));
  });

  test('after [DONE] nothing is waited for, whatever the line ends, and an open stream is left', async () => {
    for (const lineEnd of ['\n', '\r\n', '\r']) {
      const server = await serve(async (connection) => {
        connection.write(rawStreamHead());
        connection.write(HELLO.replaceAll('\n', lineEnd));
        await connection.closed;
      });
      const start = performance.now();
      expect((await ask(clientFor(server.url))).outcome).toEqual(completed('Hello'));
      expect(performance.now() - start).toBeLessThan(1_000);
      await server.peerClosed(0);
    }
  });

  test('a chunked stream that ends properly keeps the connection', async () => {
    const server = await serve((connection) => {
      connection.write(
        'HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n',
      );
      connection.write(rawChunk(HELLO) + rawChunk(''));
    });
    const client = clientFor(server.url);
    for (let call = 0; call < 5; call += 1) {
      expect((await ask(client)).outcome).toEqual(completed('Hello'));
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
    expect(server.connectionCount).toBe(1);
  });
});

describe('a reply that is not all there', () => {
  test.each([
    ['in the middle of the text', events(delta('Hel'), delta('lo'))],
    ['in the middle of an event', `${events(delta('Hel'))}data: {"choices":[{"ind`],
    [
      'in the middle of tool call arguments',
      events(
        JSON.stringify({
          choices: [
            {
              index: 0,
              delta: { tool_calls: [{ index: 0, id: 'a', function: { name: 'f', arguments: '{"x' } }] },
            },
          ],
        }),
      ),
    ],
    ['after an empty finish reason', events(delta('Hello'), finish(''))],
    ['after a null finish reason', events(delta('Hello'), finish(null))],
    ['after comments only', ': ping\n\n: ping\n\n'],
    ['before anything', ''],
  ])('ended %s: incomplete', async (_name, body) => {
    expect((await stream(body)).outcome).toMatchObject({ kind: 'incomplete', status: 200 });
  });

  test.each(['end', 'reset'] as const)(
    'the connection is lost (%s) in the middle: incomplete',
    async (way) => {
      const server = await serve(async (connection) => {
        connection.write(
          'HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n',
        );
        connection.write(rawChunk(events(delta('Hel'))));
        await connection.pause(20);
        connection[way]();
      });
      expect((await ask(clientFor(server.url))).outcome).toMatchObject({ kind: 'incomplete', status: 200 });
    },
  );

  test('the connection is lost after the finish reason: the reply is whole', async () => {
    const server = await serve(async (connection) => {
      connection.write(
        'HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n',
      );
      connection.write(rawChunk(events(delta('Hello'), finish())));
      await connection.pause(20);
      connection.reset();
    });
    expect((await ask(clientFor(server.url))).outcome).toEqual(completed('Hello'));
  });

  test('a JSON reply shorter than its length: incomplete if cut, whole if all of it came', async () => {
    for (const [body, kind] of [
      [okJson('Hello').slice(0, 40), 'incomplete'],
      [okJson('Hello'), 'ok'],
    ] as const) {
      const server = await serve(async (connection) => {
        connection.write(rawResponse({ headers: { 'content-length': '9999' }, body }));
        await connection.pause(20);
        connection.end();
      });
      expect((await ask(clientFor(server.url))).outcome).toMatchObject({ kind });
    }
  });

  test('a broken chunk header is a broken frame: protocol', async () => {
    const server = await serve((connection) => {
      connection.write(
        'HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\nzz\r\nx',
      );
    });
    expect((await ask(clientFor(server.url))).outcome).toMatchObject({ kind: 'protocol', status: 200 });
  });
});

describe('what comes back decides how it is read', () => {
  test.each([
    ['JSON', { 'content-type': 'application/json' }, okJson('Hello')],
    ['JSON after blank lines', { 'content-type': 'application/json' }, `\n\n \r\n${okJson('Hello')}\n`],
    ['JSON with a byte order mark', { 'content-type': 'application/json' }, `\ufeff${okJson('Hello')}`],
    ['JSON called an event stream', EVENT_STREAM, okJson('Hello')],
    ['JSON called text', { 'content-type': 'text/plain' }, okJson('Hello')],
    ['an event stream called JSON', { 'content-type': 'application/json' }, HELLO],
    ['an event stream called nothing', { 'content-type': '' }, HELLO],
    ['an event stream with a charset', { 'content-type': 'Text/Event-Stream; charset=utf-8' }, HELLO],
    ['gzip, although declined', { ...EVENT_STREAM, 'content-encoding': 'gzip' }, gzipSync(HELLO)],
  ])('%s', async (_name, headers, body) => {
    expect((await answerOf({ headers, body })).outcome).toEqual(completed('Hello'));
  });

  test.each([
    ['HTML', { 'content-type': 'text/html' }, '<html><body><h1>Sign in</h1></body></html>', 'Sign in'],
    ['HTML in an event stream', EVENT_STREAM, '<html>\n<h1>Sign in</h1></html>\n\n', ''],
    ['text in an event stream', EVENT_STREAM, 'upstream went away\n\n', 'upstream went away'],
    ['text in the data', EVENT_STREAM, 'data: upstream went away\n\n', 'upstream went away'],
    ['a number in the data', EVENT_STREAM, 'data: 5\n\n', '5'],
    ['broken JSON', {}, '{"choices":[', '{"choices":['],
    ['two documents', {}, '{}\n{}', '{}'],
    ['a list', {}, '[1,2]', '[1,2]'],
    ['nothing', {}, '', 'is empty'],
    ['nothing but blanks', {}, ' \n ', 'is empty'],
    ['a coding that is unknown', { 'content-encoding': 'zstd' }, 'xxxx', 'compressed'],
    ['gzip that is none', { 'content-encoding': 'gzip' }, '\u0001xxxxxxxxxxxxxxxx', ''],
  ])('%s is no chat completion', async (_name, headers, body, excerpt) => {
    const { outcome } = await answerOf({ headers, body });
    expect(outcome).toMatchObject({
      kind: 'protocol',
      status: 200,
    });
    expect(outcome.kind !== 'ok' && outcome.message).toContain(excerpt);
    expect(JSON.stringify(outcome)).not.toContain('<h1>');
  });

  test.each([
    '{}',
    '{"choices":[]}',
    '{"choices":null}',
    '{"choices":[null]}',
    '{"choices":"x"}',
    '{"choices":{"0":{}}}',
    '{"choices":[{"index":1,"message":{"content":"x"}}]}',
  ])('JSON without a choice: %s', async (body) => {
    expect((await json(body)).outcome).toMatchObject({ kind: 'empty', status: 200 });
  });

  test('a stream without a choice', async () => {
    const body = events(
      '{"choices":[]}',
      '{"choices":[],"usage":{"prompt_tokens":3,"completion_tokens":0}}',
      '[DONE]',
    );
    expect(await stream(body)).toMatchObject({
      outcome: { kind: 'empty' },
      usage: { inputTokens: 3, outputTokens: 0 },
    });
  });

  test('more than the cap is not read', async () => {
    const server = await serve(async (connection) => {
      connection.write(rawStreamHead());
      const comment = Buffer.from(`: ${'x'.repeat(1024 * 1024)}\n`);
      while (!connection.isClosed) {
        connection.write(comment);
        await connection.pause(0);
      }
    });
    expect((await ask(clientFor(server.url))).outcome).toMatchObject({ kind: 'protocol' });
    await server.peerClosed(0);
  });

  test('an event that never ends is not read to the end', async () => {
    const server = await serve(async (connection) => {
      connection.write(`${rawStreamHead()}data: `);
      const piece = Buffer.from('x'.repeat(1024 * 1024));
      while (!connection.isClosed) {
        connection.write(piece);
        await connection.pause(0);
      }
    });
    const { outcome } = await ask(clientFor(server.url));
    expect(outcome).toMatchObject({
      kind: 'protocol',
      message: 'An event of the model endpoint is too long',
    });
  });
});

describe('errors inside a 200', () => {
  const overloaded = '{"error":{"message":"overloaded"}}';

  test.each([
    ['an event', events(delta('a'), delta('b'), delta('c'), overloaded)],
    ['an event with [DONE] after it', events(delta('a'), overloaded, '[DONE]')],
    ['an event after the finish reason', events(delta('a'), finish(), overloaded)],
    ['an event named error', 'event: error\ndata: {"message":"overloaded"}\n\n'],
    ['an event named error with text', 'event: error\ndata: overloaded\n\n'],
    ['a line with the field error', 'error: {"message":"overloaded","code":500}\n\n'],
    ['a line with the field error and text', 'error: overloaded\n\n'],
    [
      'a chunk with an error and a choice',
      events(
        JSON.stringify({
          error: { message: 'overloaded' },
          choices: [{ index: 0, delta: { content: '' }, finish_reason: 'error' }],
        }),
      ),
    ],
    [
      'an error in the choice',
      events(JSON.stringify({ choices: [{ index: 0, delta: {}, error: { message: 'overloaded' } }] })),
    ],
    ['a list', events('[{"error":{"message":"overloaded"}}]')],
    ['a document with a message only', events('{"message":"overloaded"}')],
    ['vLLM', events('{"object":"error","message":"overloaded","type":"InternalServerError","code":500}')],
  ])('%s', async (_name, body) => {
    expect((await stream(body)).outcome).toEqual({
      kind: 'unavailable',
      message: 'The model endpoint reported an error: overloaded',
      status: 200,
      retryAfterMs: null,
    });
  });

  test.each([
    [0],
    [''],
    [false],
    [[]],
    [{}],
    [{ message: '', code: 0, type: null, param: null }],
    [{ message: null, details: [{}], metadata: { raw: '' } }],
    [[{ code: null }, '']],
  ])('an error of %j beside a choice is none', async (error) => {
    const plain = { error, choices: [{ index: 0, message: { content: 'Hello' }, finish_reason: 'stop' }] };
    expect((await json(plain)).outcome).toEqual(completed('Hello'));
    const chunks = [{ delta: { content: 'Hello' } }, { delta: {}, finish_reason: 'stop', error }].map(
      (choice) => JSON.stringify({ error, choices: [{ index: 0, ...choice }] }),
    );
    expect((await stream(events(...chunks))).outcome).toEqual(completed('Hello'));
  });

  test.each([
    [{ error: { message: 'overloaded' } }],
    [{ error: { message: 'overloaded', code: 0, type: null }, choices: [{ message: { content: 'x' } }] }],
    [{ error: 'overloaded', choices: [] }],
    [[{ error: { message: 'overloaded' } }]],
    [{ detail: 'overloaded' }],
    [{ status: 'failure', message: 'overloaded' }],
  ])('as JSON: %j', async (body) => {
    expect((await json(body)).outcome).toMatchObject({
      kind: 'unavailable',
      message: 'The model endpoint reported an error: overloaded',
    });
  });

  test.each(['error', 'network_error', 'insufficient_system_resource'])(
    'the finish reason %s',
    async (reason) => {
      expect((await stream(events(delta('a'), finish(reason)))).outcome).toMatchObject({
        kind: 'unavailable',
      });
    },
  );

  test('a full window as finish reason is an overflow, text or not', async () => {
    expect((await stream(events(delta('a'), finish('model_context_window_exceeded')))).outcome).toMatchObject(
      {
        kind: 'overflow',
      },
    );
  });

  test.each([[null], [false], [''], [{}], [[]]])('the error field %j is none', async (error) => {
    const body = JSON.stringify({
      error,
      choices: [{ message: { content: 'Hello' }, finish_reason: 'stop' }],
    });
    expect((await json(body)).outcome).toEqual(completed('Hello'));
  });
});

describe('the parts of a reply', () => {
  const message = (part: unknown, more: object = {}) => ({
    choices: [{ index: 0, message: part, finish_reason: 'stop', ...more }],
  });

  test.each<[string, unknown, string]>([
    ['a string', 'Deck A', 'Deck A'],
    ['null', null, ''],
    ['missing', undefined, ''],
    ['a number', 7, ''],
    [
      'parts',
      [
        { type: 'thinking', thinking: [{ type: 'text', text: 'hmm' }] },
        { type: 'text', text: 'Deck A ' },
        { type: 'weird' },
        null,
        { type: 'text', text: 5 },
        { type: 'text', text: 'is closed.' },
      ],
      'Deck A is closed.',
    ],
    ['one part', { type: 'text', text: 'Deck A' }, 'Deck A'],
    ['think tags, which are left to the caller', '<think>x</think>y', '<think>x</think>y'],
  ])('content that is %s, whole and streamed', async (_name, content, text) => {
    expect((await json(message({ role: 'assistant', content }))).outcome).toEqual(completed(text));
    expect((await stream(events(delta(content), finish(), '[DONE]'))).outcome).toEqual(completed(text));
  });

  test.each(['reasoning_content', 'reasoning', 'reasoning_text', 'thinking'])(
    '%s is no text',
    async (field) => {
      expect((await json(message({ content: 'x', [field]: 'secret' }))).outcome).toEqual(completed('x'));
      const chunk = JSON.stringify({ choices: [{ index: 0, delta: { content: null, [field]: 'secret' } }] });
      expect((await stream(events(chunk, delta('x'), finish()))).outcome).toEqual(completed('x'));
    },
  );

  test('refusal, finish reason, model and tool calls', async () => {
    const calls = [{ id: 'a', type: 'function', function: { name: 'f', arguments: { x: 1 } } }];
    const body = {
      ...message({ content: null, refusal: 'No.', tool_calls: calls }, { finish_reason: 'length' }),
      model: 'm-1',
    };
    expect((await json(body)).outcome).toEqual({
      kind: 'ok',
      text: '',
      finishReason: 'length',
      refusal: 'No.',
      toolCalls: [{ id: 'a', name: 'f', arguments: '{"x":1}' }],
      model: 'm-1',
    });
  });

  test('refusal and tool calls, streamed', async () => {
    const chunk = (part: object) => JSON.stringify({ model: 'm-1', choices: [{ index: 0, delta: part }] });
    const body = events(
      chunk({ refusal: 'N' }),
      chunk({ refusal: 'o.' }),
      chunk({ tool_calls: [{ index: 0, id: 'a', function: { name: 'f', arguments: '{"x"' } }] }),
      chunk({ tool_calls: [{ index: 0, function: { arguments: ':1}' } }] }),
      finish('tool_calls'),
      '[DONE]',
    );
    expect((await stream(body)).outcome).toEqual({
      kind: 'ok',
      text: '',
      finishReason: 'tool_calls',
      refusal: 'No.',
      toolCalls: [{ id: 'a', name: 'f', arguments: '{"x":1}' }],
      model: 'm-1',
    });
  });

  test('the old function_call form', async () => {
    const chunk = (call: object) =>
      JSON.stringify({ choices: [{ index: 0, delta: { function_call: call } }] });
    const { outcome } = await stream(
      events(chunk({ name: 'f', arguments: '{"x"' }), chunk({ arguments: ':1}' }), finish()),
    );
    expect(outcome).toMatchObject({ toolCalls: [{ name: 'f', arguments: '{"x":1}' }] });
  });

  test('only the first of several choices counts', async () => {
    const other = JSON.stringify({
      choices: [{ index: 1, delta: { content: 'no' }, finish_reason: 'length' }],
    });
    expect((await stream(events(other, delta('Hello'), other, finish(), '[DONE]'))).outcome).toEqual(
      completed('Hello'),
    );
  });

  test('a stream that repeats the whole message at its end', async () => {
    const whole = JSON.stringify({
      choices: [{ index: 0, message: { content: 'Hello' }, finish_reason: 'stop' }],
    });
    expect((await stream(events(delta('Hel'), delta('lo'), whole))).outcome).toEqual(completed('Hello'));
    expect((await stream(events(whole, '[DONE]'))).outcome).toEqual(completed('Hello'));
  });

  test.each([
    '{"choices":[{"delta":5}]}',
    '{"choices":[{"delta":{"content":{"a":1},"tool_calls":{"a":1}}}]}',
    '{"choices":[{"delta":{"tool_calls":[null,5,"x",[],{"function":7}],"refusal":{},"function_call":[]}}]}',
    '{"choices":[[],5,null]}',
    '{"choices":[{"message":[],"finish_reason":7,"usage":5}],"usage":[],"model":{},"x_groq":3}',
    '{"constructor":1,"__proto__":{"choices":[{}]},"toString":2}',
  ])('the odd document %s harms nothing', async (document) => {
    expect((await stream(events(document, delta('x'), finish()))).outcome).toMatchObject({
      kind: 'ok',
      text: 'x',
    });
    expect(['ok', 'empty']).toContain((await json(document)).outcome.kind);
  });
});

describe('usage', () => {
  const UNKNOWN = { inputTokens: null, outputTokens: null };
  const usageOf = async (usage: unknown) => {
    const { outcome, usage: reported } = await json({ choices: [{ message: { content: 'x' } }], usage });
    expect(outcome.kind).toBe('ok');
    return reported;
  };

  test.each([
    undefined,
    null,
    {},
    [],
    7,
    'x',
    { prompt_tokens: '5', completion_tokens: '6' },
    { total_tokens: 9 },
    { prompt_tokens: -1, completion_tokens: 1.5 },
    { prompt_tokens: 0, completion_tokens: 0 },
  ])('%j says nothing', async (usage) => {
    expect(await usageOf(usage)).toEqual(UNKNOWN);
  });

  test('is read where it is, the latest report counting', async () => {
    expect(await usageOf({ prompt_tokens: 12, completion_tokens: 0 })).toEqual({
      inputTokens: 12,
      outputTokens: 0,
    });
    expect(await usageOf({ input_tokens: 12, output_tokens: 3 })).toEqual({
      inputTokens: 12,
      outputTokens: 3,
    });
    expect(await usageOf({ prompt_tokens: 12 })).toEqual({ inputTokens: 12, outputTokens: null });
    const usage = (prompt: number, completion: number) => ({
      prompt_tokens: prompt,
      completion_tokens: completion,
    });
    const chunk = (more: object) => JSON.stringify({ choices: [], ...more });
    const cases = [
      events(delta('x'), finish(), chunk({ usage: usage(12, 3) }), '[DONE]'),
      events(delta('x', { usage: usage(12, 1) }), delta('y', { usage: usage(12, 3) }), finish(), '[DONE]'),
      events(delta('x'), finish(), chunk({ x_groq: { usage: usage(12, 3) } }), '[DONE]'),
      events(delta('x'), finish(), chunk({ usage: usage(12, 3) }), chunk({ usage: usage(0, 0) }), '[DONE]'),
    ];
    for (const body of cases)
      expect((await stream(body)).usage).toEqual({ inputTokens: 12, outputTokens: 3 });
  });

  test('is kept of a reply that failed', async () => {
    const counted = delta('x').replace(/}$/, ',"usage":{"prompt_tokens":9,"completion_tokens":4}}');
    expect(await stream(events(counted))).toMatchObject({
      outcome: { kind: 'incomplete' },
      usage: { inputTokens: 9, outputTokens: 4 },
    });
    const refused = { error: { message: 'x' }, usage: { prompt_tokens: 9, completion_tokens: 4 } };
    expect(await answerOf({ status: 500, body: JSON.stringify(refused) })).toMatchObject({
      outcome: { kind: 'unavailable' },
      usage: { inputTokens: 9, outputTokens: 4 },
    });
  });
});
