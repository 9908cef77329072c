import { describe, expect, it } from 'vitest';
import { inTurn, PROMPT, sent, startChat } from '../support/chat.js';
import { assistant, system, user } from '../support/messages.js';
import { calling, OVERFLOW, type StubReply } from '../support/model-stub.js';

const AGENT_PROMPT = system(PROMPT);
const error = (message: string, more: object = {}) => ({ error: { message, ...more } });
const halfCall: StubReply = { ...calling(['c1', 'lookup', '{"day":']), finish: 'length' };

const FAILURES: readonly (readonly [string, StubReply, number, string, boolean])[] = [
  ['fails', { status: 500, body: error('broken') }, 502, 'MODEL_UNAVAILABLE', true],
  [
    'limits requests',
    { status: 429, body: error('slow down'), headers: { 'retry-after': '7' } },
    503,
    'MODEL_RATE_LIMITED',
    true,
  ],
  ['refuses the key', { status: 401, body: error('bad key') }, 502, 'MODEL_AUTH', false],
  [
    'has no credit left',
    { status: 429, body: error('no credit', { code: 'insufficient_quota' }) },
    502,
    'MODEL_QUOTA',
    false,
  ],
  ['refuses the request', { status: 400, body: error('no') }, 502, 'MODEL_REJECTED', false],
  ['finds the context too long', OVERFLOW, 502, 'CONTEXT_OVERFLOW', false],
  ['says nothing', { hang: true }, 504, 'MODEL_TIMEOUT', true],
  ['answers with nothing', { content: ' ' }, 502, 'EMPTY_REPLY', true],
  ['answers with half a call', halfCall, 502, 'REPLY_TRUNCATED', false],
  ['answers with no chat completion', { body: '<html>' }, 502, 'MODEL_UNAVAILABLE', true],
];

describe('a chat whose endpoint', () => {
  it.each(FAILURES)('%s keeps its message, once, and goes on with the same key', async (_, reply, ...end) => {
    const [status, code, retryable] = end;
    const { service, model, say } = await startChat(inTurn(reply, { content: 'Yes.' }), {
      variables: { MAIN_FIRST_BYTE_TIMEOUT_MS: '300' },
    });
    const body = { message: 'KEEP-1' };
    const failed = await say(body, 'key-1');
    expect(failed.headers['content-type']).toBe('application/problem+json; charset=utf-8');
    expect(failed.body).toMatchObject({
      status,
      code,
      retryable,
      sessionId: expect.stringMatching(/^sess_/),
    });
    expect([failed.status, failed.headers['retry-after']]).toEqual([
      status,
      code === 'MODEL_RATE_LIMITED' ? '7' : undefined,
    ]);
    const { sessionId } = failed.body;
    expect(await service.messages(sessionId)).toEqual([user('KEEP-1')]);
    const turn = () => service.sql('SELECT turn_owner, turn_position FROM sessions');
    expect(turn()).toEqual([{ turn_owner: null, turn_position: 0 }]);
    const summarized = await service.compact(sessionId, { compactCount: 99 });
    expect(summarized.body.reason).toBe('turn_open');

    const again = await say(body, 'key-1');

    expect(again.status).toBe(200);
    expect(again.headers['idempotency-replayed']).toBeUndefined();
    expect(again.body).toMatchObject({ sessionId, status: 'completed', message: assistant('Yes.') });
    expect(model.bodies).toHaveLength(2);
    expect(sent(model, 1)).toEqual([AGENT_PROMPT, user('KEEP-1')]);
    expect(await service.messages(sessionId)).toEqual([user('KEEP-1'), assistant('Yes.')]);
    expect(turn()).toEqual([{ turn_owner: null, turn_position: null }]);
    expect(service.sql('SELECT id FROM sessions')).toEqual([{ id: sessionId }]);
  });

  it('fails goes on without a key when no new message is sent', async () => {
    const { service, say } = await startChat(
      inTurn({ status: 500, body: error('broken') }, { content: 'Yes.' }),
    );
    const { sessionId } = (await say({ message: 'KEEP-1' })).body;
    expect((await say({ sessionId })).body).toMatchObject({ message: assistant('Yes.') });
    expect(await service.messages(sessionId)).toEqual([user('KEEP-1'), assistant('Yes.')]);
  });

  it('fails within a loop keeps what was stored by then, and asks for the rest alone', async () => {
    const lookup = { type: 'function', function: { name: 'lookup', parameters: { type: 'object' } } };
    const { service, model, say } = await startChat(
      inTurn(calling(['c1', 'lookup']), { status: 500, body: error('broken') }, { content: 'Yes.' }),
      { agent: { tools: [lookup] } },
    );
    const { sessionId } = (await say({ message: 'Go.' })).body;
    const results = { sessionId, toolResults: [{ toolCallId: 'c1', content: 'r1' }] };
    const failed = await say(results, 'key-1');
    expect([failed.body.code, failed.body.sessionId]).toEqual(['MODEL_UNAVAILABLE', sessionId]);
    expect(await service.messages(sessionId)).toHaveLength(3);
    const done = await say(results, 'key-1');
    expect(done.body).toMatchObject({ status: 'completed', message: assistant('Yes.') });
    expect(await service.messages(sessionId)).toHaveLength(4);
    expect(model.bodies.map(({ messages }) => messages.length)).toEqual([2, 4, 4]);
    // The results are stored: without the key they are late.
    expect((await say(results)).body.code).toBe('TOOL_CALL_CLOSED');
  });

  it('gives its key back shows it to nobody', async () => {
    const { service, say } = await startChat(
      inTurn({
        content: 'The key is secret-key-1234.',
        message: { reasoning_content: 'secret-key-1234', ...calling(['c1', 'secret-key-1234']).message },
      }),
      { variables: { OPENAI_API_KEY: 'secret-key-1234' } },
    );
    const answer = await say({ message: 'Hello' }, 'key-1');
    expect(answer.body).toMatchObject({ message: { content: 'The key is [REDACTED].' } });
    const stored = [
      service.sql('SELECT body FROM messages'),
      service.sql('SELECT answer_body FROM idempotency_keys'),
    ];
    expect(JSON.stringify([stored, answer.text])).not.toContain('secret-key');
  });
});
