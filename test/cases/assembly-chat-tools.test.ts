import { describe, expect, it } from 'vitest';
import type { ChatMessage } from '../../src/compaction/measure.js';
import { chatAt, inTurn, PROMPT, sent, startChat, startStrictModel } from '../support/chat.js';
import { assistant, calls, result, system, text, user } from '../support/messages.js';
import { startModelStub } from '../support/model-stub.js';
import { startService } from '../support/service.js';
import { strictViolation } from '../support/strict.js';
import { callOf, quoted, sessionOf, summaryOf } from './expected.js';

const AGENT_PROMPT = system(PROMPT);

/** For conversations in which roles do not alternate. */
const STRICT_WIRE = { variables: { MAIN_WIRE: 'strict' } };

describe('calls and results in a chat', () => {
  it('summarizes and answers beside an old call that was never answered', async () => {
    const { service, model, summarizer, say } = await startChat(inTurn({ content: 'Yes.' }), STRICT_WIRE);
    const [first, third, fourth, fifth] = [user(1_000), user(1_000), assistant(1_000), user(200)];
    const called = callOf('call00001', 'lookup', '{}');
    const messages = [first, called, third, fourth, fifth];
    const id = await service.session(messages, { compactCount: 60 });
    expect((await say({ sessionId: id, message: 'Next?' })).status).toBe(200);
    expect(sent(model, 0)).toEqual([
      AGENT_PROMPT,
      first,
      called,
      result('call00001', '(no result recorded)'),
      assistant('Understood.'),
      third,
      fourth,
      user(`${fifth.content}\n\nNext?`),
    ]);
    expect(await service.messages(id)).toEqual([...messages, user('Next?'), assistant('Yes.')]);

    expect((await service.compact(id)).body.newSize).toBe(3);
    expect(summarizer.bodies).toHaveLength(1);
    expect(summarizer.server.requests[0]?.body).not.toMatch(/"tool_calls"|"role":"tool"|"tools"/);
    expect((await service.messages(id))[1]).toEqual(called);
    expect((await say({ sessionId: id, message: 'And now?' })).status).toBe(200);
  });

  it('sends no result without its call, before and after a compaction', async () => {
    const { service, model, say } = await startChat(inTurn({ content: 'Yes.' }));
    const messages = [
      result('c0', text(100, 'R-c0 ')),
      user(100),
      calls(['c1']),
      result('c1', text(100, 'R-c1 ')),
      result('cX', text(100, 'R-cX ')),
      assistant(100),
      user(100),
    ];
    const id = await service.session(messages, { compactCount: 30 });
    expect((await say({ sessionId: id })).status).toBe(200);
    const results = (index: number) =>
      sent(model, index)
        .filter((message) => Object(message).role === 'tool')
        .map((message) => Object(message).tool_call_id);
    expect(results(0)).toEqual(['c1']);

    // Results without a call count like any other message.
    expect((await service.compact(id)).body.newSize).toBe(2);
    expect((await say({ sessionId: id, message: 'Next?' })).status).toBe(200);
    expect(results(1)).toEqual(['c1']);
    const [wire, open] = [sent(model, 1), messages.slice(2)];
    expect(wire.slice(0, 4)).toEqual([AGENT_PROMPT, summaryOf('S1'), ...open.slice(0, 2)]);
    expect(wire.slice(-3)).toEqual([open.at(-1), assistant('Yes.'), user('Next?')]);
    expect((await service.messages(id)).slice(0, 7)).toEqual(messages);
  });

  it.each(['{"path":"a', '', '[]', 'null'])('sends an object for the arguments %j', async (args) => {
    const objects = await startStrictModel((_prompt, _index, { body }) => {
      const { messages }: { messages: ChatMessage[] } = JSON.parse(body);
      const given = messages.flatMap(({ tool_calls: list }) => list ?? []).map((call) => call.function);
      const parsed: unknown[] = given.map((each) => JSON.parse(each?.arguments ?? ''));
      const bad = parsed.some((value) => typeof value !== 'object' || value === null || Array.isArray(value));
      return bad ? { status: 400, body: { error: { message: 'arguments' } } } : { content: 'Yes.' };
    });
    const service = await startService(chatAt(objects.url, objects.url));
    await service.agent('clerk');
    const messages = [
      user(100),
      callOf('c1', 'read_file', args),
      result('c1', 100),
      assistant(100),
      user(100),
      assistant(100),
    ];
    const id = await service.session(messages, { compactCount: 70 });
    const answer = await service.call('POST', '/agents/clerk/chat', { sessionId: id, message: 'Next?' });
    expect(answer.status).toBe(200);
    expect((await service.messages(id)).slice(0, 6)).toEqual(messages);
    expect((await service.compact(id)).status).toBe(200);
    expect(quoted(objects.prompts[1], 'transcript')).toContain('read_file');
    expect(await sessionOf(service, id)).toMatchObject({ message_count: 8 });
  });

  it('sends arguments with large numbers as the model wrote them', async () => {
    const { service, model, say } = await startChat(inTurn({ content: 'Yes.' }));
    const args = '{"id":2512292042121000001}';
    const messages = [user('Go.'), callOf('c1', 'lookup', args), result('c1', '9007199254740993')];
    const id = await service.session(messages, { metadata: { n: '9007199254740993' } });
    expect((await say({ sessionId: id })).status).toBe(200);
    expect(sent(model, 0)).toEqual([AGENT_PROMPT, ...messages]);
    expect(model.server.requests[0]?.body).toContain(JSON.stringify(args));
    expect(await service.view(id)).toEqual([...messages, assistant('Yes.')]);
  });

  it.each([
    ['missing content', { role: 'assistant', tool_calls: callOf('c2', 'lookup', '{}').tool_calls }],
    ['null content', callOf('c2', 'lookup', '{}')],
  ])('sends calls beside %s with null', async (_, second) => {
    const { service, model, say } = await startChat(inTurn({ content: 'Yes.' }));
    const rest = [user(100), callOf('c1', 'lookup', '{}'), result('c1', 100)];
    const answered = [...rest, second, result('c2', 100), assistant(100)];
    const created = await service.call('POST', '/sessions', { messages: [...answered, user(100)] });
    const { id } = created.body;
    expect((await say({ sessionId: id })).status).toBe(200);
    expect(sent(model, 0)).toEqual([
      AGENT_PROMPT,
      ...rest,
      callOf('c2', 'lookup', '{}'),
      result('c2', 100),
      assistant(100),
      user(100),
    ]);
    expect((await service.compact(id)).status).toBe(200);
    expect((await service.call('GET', `/sessions/${id}/messages`)).body.data[3]?.chars).toBe(8);
    expect((await service.messages(id)).slice(0, 7)).toEqual([...answered, user(100)]);
  });

  it.each([[null], [[]]])('sends no list of calls where %j was stored', async (list) => {
    const { service, model, say } = await startChat(inTurn({ content: 'Yes.' }));
    const stored = { role: 'assistant', content: 'hi', tool_calls: list };
    const created = await service.call('POST', '/sessions', { messages: [user('Go.'), stored] });
    expect(created.status).toBe(201);
    const { id } = created.body;
    expect((await say({ sessionId: id })).body.code).toBe('NOTHING_TO_ANSWER');
    expect((await say({ sessionId: id, message: 'Next?' })).status).toBe(200);
    expect(sent(model, 0)).toEqual([AGENT_PROMPT, user('Go.'), assistant('hi'), user('Next?')]);
    expect((await service.messages(id))[1]).toEqual(stored);
    // Not a call that waits for its results.
    expect((await service.compact(id, { compactCount: 40 })).body.newSize).toBe(2);
  });
});

describe('an endpoint whose roles must alternate', () => {
  it('is asked once more after its complaint, and from then on in its form', async () => {
    const complaint = 'Conversation roles must alternate user/assistant/user/assistant/...';
    const model = await startModelStub((_prompt, _index, { body }) => {
      const { messages }: { messages: ChatMessage[] } = JSON.parse(body);
      return strictViolation(messages) === null
        ? { content: 'Yes.' }
        : { status: 400, body: { error: { message: complaint } } };
    });
    const service = await startService(chatAt(model.url, model.url));
    await service.agent('clerk');
    const id = await service.session([user('One.'), user('Two.')]);
    for (const message of ['Three.', 'Four.']) {
      const answer = await service.call('POST', '/agents/clerk/chat', { sessionId: id, message });
      expect(answer.status).toBe(200);
    }
    const asked = user('One.\n\nTwo.\n\nThree.');
    expect(model.bodies.map((_, index) => sent(model, index))).toEqual([
      [user('One.'), user('Two.'), user('Three.')],
      [asked],
      [asked, assistant('Yes.'), user('Four.')],
    ]);
    expect(await service.messages(id)).toEqual([
      ...['One.', 'Two.', 'Three.'].map(user),
      assistant('Yes.'),
      user('Four.'),
      assistant('Yes.'),
    ]);
  });
});

describe('texts in a chat', () => {
  it('sends half of a surrogate pair as a replacement, and stores it as it came', async () => {
    const { service, model, say } = await startChat(inTurn({ content: 'Yes.' }));
    const raw = await service.call(
      'POST',
      '/agents/clerk/chat',
      '{"message":"\\ud83d tail and a text that is long enough"}',
    );
    expect(raw.status).toBe(200);
    expect(model.server.requests[0]?.body.isWellFormed()).toBe(true);
    expect(sent(model, 0)).toEqual([AGENT_PROMPT, user('\ufffd tail and a text that is long enough')]);
    const { sessionId } = raw.body;
    expect((await service.messages(sessionId))[0]).toEqual(
      user('\ud83d tail and a text that is long enough'),
    );
    expect((await service.compact(sessionId)).status).toBe(200);
    expect((await say({ sessionId, message: 'Next?' })).status).toBe(200);
  });

  it.each([
    [
      [
        { type: 'text', text: '' },
        { type: 'text', text: 'ok' },
      ],
      [{ type: 'text', text: 'ok' }],
    ],
    [[], '(empty)'],
    ['', '(empty)'],
  ])('sends no empty part of a stored message: %j', async (content, expected) => {
    const { service, model, say } = await startChat(inTurn({ content: 'Yes.' }));
    const created = await service.call('POST', '/sessions', { messages: [{ role: 'user', content }] });
    const { id } = created.body;
    expect((await say({ sessionId: id })).status).toBe(200);
    expect(sent(model, 0)).toEqual([AGENT_PROMPT, { role: 'user', content: expected }]);
    expect((await service.messages(id))[0]).toEqual({ role: 'user', content });
  });

  it('takes parts as a message, and stores and sends them as they are', async () => {
    const { service, model, say } = await startChat(inTurn({ content: 'A ferry.' }));
    const image = { type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA' } };
    const message = [{ type: 'text', text: 'What is it?' }, image];
    const answer = await say({ message });
    expect(answer.status).toBe(200);
    expect(sent(model, 0)).toEqual([AGENT_PROMPT, { role: 'user', content: message }]);
    expect((await service.messages(answer.body.sessionId))[0]).toEqual({ role: 'user', content: message });
  });

  it('stores a refusal, and sends it back as text', async () => {
    const refusal = 'I cannot sell that.';
    const { service, model, say } = await startChat(
      inTurn({ content: null, message: { refusal } }, { content: 'Yes.' }),
    );
    const first = await say({ message: 'Sell me the ship.' });
    expect(first.body).toMatchObject({ status: 'completed', message: { content: null, refusal } });
    const { sessionId } = first.body;
    expect((await say({ sessionId, message: 'A ticket then?' })).status).toBe(200);
    expect(sent(model, 1)).toEqual([
      AGENT_PROMPT,
      user('Sell me the ship.'),
      assistant(refusal),
      user('A ticket then?'),
    ]);
    expect((await service.messages(sessionId))[1]).toEqual({ role: 'assistant', content: null, refusal });
  });
});
