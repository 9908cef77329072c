import { describe, expect, it } from 'vitest';
import { eventsOf, inTurn, PROMPT, sent, startChat } from '../support/chat.js';
import { assistant, system, user } from '../support/messages.js';
import { callDelta, calling, delta, finished, type StubReply } from '../support/model-stub.js';

const AGENT_PROMPT = system(PROMPT);
const lookup = (name: string) => ({ type: 'function', function: { name, parameters: { type: 'object' } } });
const agent = { tools: [lookup('lookup'), lookup('book')] };
const fn = (name: string | null, args?: string) => ({ ...(name === null ? {} : { name }), arguments: args });

/** Apart in time, so that each arrives by itself. */
const slowly = (...events: readonly (string | object)[]) => events.flatMap((event) => [event, 40]);

/** One streamed chat against an endpoint that streams this. */
async function streamed(reply: StubReply, options: Parameters<typeof startChat>[1] = {}) {
  const chat = await startChat(inTurn(reply, { content: 'Yes.' }), options);
  const answer = await chat.say({ message: 'KEEP-1', stream: true }, 'k');
  const events = eventsOf(answer.text);
  return { ...chat, answer, events, sessionId: events[0]?.data.sessionId ?? '' };
}

describe('a streamed chat', () => {
  it('tells what happens as it happens, and ends with the answer of one that is not streamed', async () => {
    const { events, answer, service, sessionId } = await streamed({
      stream: slowly(delta('Hel'), delta('lo'), finished(), '[DONE]'),
    });
    expect(answer.status).toBe(200);
    expect(events).toEqual([
      { event: 'session-opened', data: { sessionId } },
      { event: 'message-delta', data: { text: 'Hel' } },
      { event: 'message-delta', data: { text: 'lo' } },
      { event: 'message-completed', data: { message: assistant('Hello') } },
      {
        event: 'turn-completed',
        data: {
          sessionId,
          status: 'completed',
          message: assistant('Hello'),
          finishReason: 'stop',
          usage: { inputTokens: 100, outputTokens: 10 },
        },
      },
    ]);
    expect(await service.messages(sessionId)).toEqual([user('KEEP-1'), assistant('Hello')]);
  });

  it('is no stream when the request is refused before anything was done', async () => {
    const { say } = await startChat(inTurn({ content: 'Yes.' }));
    const refused = await say({ sessionId: 'none', message: 'Hello', stream: true });
    expect([refused.status, refused.headers['content-type'], refused.body.code]).toEqual([
      404,
      'application/problem+json; charset=utf-8',
      'SESSION_NOT_FOUND',
    ]);
  });

  it.each<[string, StubReply, number, string]>([
    ['a stream that simply ends', { stream: slowly(delta('Hel'), delta('lo')) }, 2, 'MODEL_UNAVAILABLE'],
    [
      'a stream that ends inside of arguments',
      { stream: [callDelta({ index: 0, id: 'c1', function: fn('lookup', '{"da') })] },
      0,
      'MODEL_UNAVAILABLE',
    ],
    [
      'a stream whose limit cuts the arguments',
      { stream: [callDelta({ index: 0, id: 'c1', function: fn('lookup', '{"da') }), finished('length')] },
      0,
      'REPLY_TRUNCATED',
    ],
    [
      'an error after some text',
      { stream: slowly(delta('a'), delta('b'), delta('c'), { error: { message: 'overloaded' } }) },
      3,
      'MODEL_UNAVAILABLE',
    ],
  ])('ends with an error after %s, and nothing of it is stored', async (_, reply, deltas, code) => {
    const { events, answer, service, sessionId, say, model } = await streamed(reply, { agent });
    expect(answer.status).toBe(200);
    expect(events.map(({ event }) => event)).toEqual([
      'session-opened',
      ...Array.from({ length: deltas }, () => 'message-delta'),
      'error',
    ]);
    expect(events.at(-1)?.data).toMatchObject({
      type: `urn:compactd:problem:${code.toLowerCase().replaceAll('_', '-')}`,
      status: 502,
      code,
      sessionId,
      instance: answer.headers['x-request-id'],
    });
    expect(await service.messages(sessionId)).toEqual([user('KEEP-1')]);
    const again = await say({ message: 'KEEP-1', stream: true }, 'k');
    expect(eventsOf(again.text).at(-1)?.data).toMatchObject({ sessionId, message: assistant('Yes.') });
    expect(sent(model, 1)).toEqual([AGENT_PROMPT, user('KEEP-1')]);
    expect(await service.messages(sessionId)).toEqual([user('KEEP-1'), assistant('Yes.')]);
  });

  it('is the same without a stream: an error, and nothing stored', async () => {
    const { service, say } = await startChat(inTurn({ stream: [delta('Hel'), delta('lo')] }));
    const failed = await say({ message: 'KEEP-1' });
    expect([failed.status, failed.body.code]).toEqual([502, 'MODEL_UNAVAILABLE']);
    expect(await service.messages(failed.body.sessionId)).toEqual([user('KEEP-1')]);
  });

  it('asks again as long as no text was handed out, and never after that', async () => {
    const broken = { stream: [{ error: { message: 'overloaded' } }] };
    const variables = { MAIN_RETRIES: '1' };
    const silent = await startChat(inTurn(broken, { content: 'Yes.' }), { variables });
    const events = eventsOf((await silent.say({ message: 'Hello', stream: true })).text);
    expect(events.map(({ event }) => event).slice(0, 2)).toEqual(['session-opened', 'message-delta']);
    expect(silent.model.bodies).toHaveLength(2);

    const spoken = await streamed({ stream: slowly(delta('a'), ...broken.stream) }, { variables });
    expect(spoken.events.map(({ event }) => event)).toEqual(['session-opened', 'message-delta', 'error']);
    expect(spoken.model.bodies).toHaveLength(1);
  });

  const [one, two] = ['{"day":12}', '{"berths":2}'];
  it.each<[string, object[]]>([
    [
      'index 0 for both, and ids',
      [
        callDelta({ index: 0, id: 'c1', function: fn('lookup', '{"day"') }),
        callDelta({ index: 0, id: 'c1', function: fn(null, ':12}') }),
        callDelta({ index: 0, id: 'c2', function: fn('book', '{"berths"') }),
        callDelta({ index: 0, id: 'c2', function: fn(null, ':2}') }),
      ],
    ],
    [
      'no index',
      [
        callDelta({ id: 'c1', function: fn('lookup', '{"day"') }),
        callDelta({ function: fn(null, ':12}') }),
        callDelta({ id: 'c2', function: fn('book', '{"berths"') }),
        callDelta({ function: fn(null, ':2}') }),
      ],
    ],
    [
      'right indexes, mixed fragments without an id',
      [
        callDelta(
          { index: 0, id: 'c1', function: fn('lookup', '') },
          { index: 1, id: 'c2', function: fn('book', '') },
        ),
        callDelta({ index: 1, function: fn(null, '{"berths"') }),
        callDelta({ index: 0, function: fn(null, '{"day"') }),
        callDelta({ index: 1, function: fn(null, ':2}') }, { index: 0, function: fn(null, ':12}') }),
      ],
    ],
    [
      'an id in the first fragment only, and null as the name later',
      [
        callDelta({ index: 0, id: 'c1', function: fn('lookup', '{"day"') }),
        callDelta({ index: 0, id: null, function: { name: null, arguments: ':12}' } }),
        callDelta({ index: 1, id: 'c2', function: fn('book', '{"berths"') }),
        callDelta({ index: 1, id: null, function: { name: null, arguments: ':2}' } }),
      ],
    ],
  ])('tells two calls apart that come with %s', async (_, chunks) => {
    const { events, service, sessionId } = await streamed(
      { stream: [...chunks, finished('tool_calls'), '[DONE]'] },
      { agent },
    );
    const calls = calling(['c1', 'lookup', one], ['c2', 'book', two]).message;
    const message = { role: 'assistant', content: null, ...calls };
    expect(events.slice(1)).toEqual([
      { event: 'message-completed', data: { message } },
      { event: 'tool-called', data: { id: 'c1', name: 'lookup', arguments: one, by: 'caller' } },
      { event: 'tool-called', data: { id: 'c2', name: 'book', arguments: two, by: 'caller' } },
      {
        event: 'turn-completed',
        data: {
          sessionId,
          status: 'requires_action',
          message,
          toolCalls: Object(calls).tool_calls,
          finishReason: 'tool_calls',
          usage: { inputTokens: 100, outputTokens: 10 },
        },
      },
    ]);
    expect(await service.messages(sessionId)).toEqual([user('KEEP-1'), message]);
  });

  it('takes chunks without a choice, and the usage in them', async () => {
    const { events, service, sessionId } = await streamed({
      stream: [
        { choices: [] },
        delta('Hello'),
        { choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] },
        { choices: [], usage: { prompt_tokens: 41, completion_tokens: 7, total_tokens: 48 } },
        '[DONE]',
      ],
    });
    expect(events.at(-1)?.data).toMatchObject({ usage: { inputTokens: 41, outputTokens: 7 } });
    const { body } = await service.call('GET', `/sessions/${sessionId}`);
    expect(body).toMatchObject({ input_tokens: 41, output_tokens: 7 });
  });

  it.each([true, false])(
    'says that the output limit cut the answer, and stores it (stream: %s)',
    async (stream) => {
      const { service, say } = await startChat(
        inTurn({ stream: [delta('Hello, I'), finished('length'), '[DONE]'] }),
      );
      const answer = await say({ message: 'Hi', stream });
      const data = stream ? eventsOf(answer.text).at(-1)?.data : answer.body;
      expect(data).toMatchObject({
        status: 'completed',
        finishReason: 'length',
        message: assistant('Hello, I'),
      });
      expect(await service.messages(data?.sessionId ?? '')).toEqual([user('Hi'), assistant('Hello, I')]);
    },
  );

  it('shows no key that the endpoint gives back, however it is cut', async () => {
    const key = 'secret-key-1234';
    const text = `The key is ${key}, or ${Buffer.from(key).toString('base64')}; not sec.`;
    const { answer, events, service } = await streamed(
      { stream: [...[...text].map(delta), finished(), '[DONE]'] },
      { variables: { OPENAI_API_KEY: key } },
    );
    const shown = events.flatMap(({ event, data }) => (event === 'message-delta' ? [data.text] : []));
    expect(shown.join('')).toBe(events.at(-1)?.data.message.content);
    expect(shown.join('')).toMatch(/^The key is \[REDACTED\], or \[REDACTED\]\S*; not sec\.$/);
    expect(answer.text).not.toContain('secret-k');
    expect(JSON.stringify(service.sql('SELECT body FROM messages'))).not.toContain('secret-k');
  });
});
