import { describe, expect, it } from 'vitest';
import { inTurn, PROMPT, sent, startChat } from '../support/chat.js';
import { assistant, calls, result, system, turns, user } from '../support/messages.js';
import { calling } from '../support/model-stub.js';

const AGENT_PROMPT = system(PROMPT);
const tool = (name: string) => ({ type: 'function', function: { name, parameters: { type: 'object' } } });
const agent = { tools: [tool('lookup'), tool('book')] };
// In the form that the strictest endpoints want, so that they are sent as they are.
const [C1, C2] = ['call00001', 'call00002'];
/** Two calls at once, then words. */
const TWO_CALLS = calling([C1, 'lookup', '{"day":12}'], [C2, 'book']);
const CALLS = { role: 'assistant', content: null, ...TWO_CALLS.message };
const of = (toolCallId: string, content: unknown = `r-${toolCallId}`) => ({ toolCallId, content });

/** A session whose turn waits for c1 and c2. */
async function waiting(variables = {}) {
  const chat = await startChat(inTurn(TWO_CALLS, { content: 'Booked.' }), { agent, variables });
  const first = await chat.say({ message: 'Two berths.' });
  return { ...chat, first, id: first.body.sessionId };
}

describe('calls of the tools of whoever asks', () => {
  it('end the request, and their results end the turn', async () => {
    const { service, model, say, first, id } = await waiting();
    const toolCalls = [
      { id: C1, type: 'function', function: { name: 'lookup', arguments: '{"day":12}' } },
      { id: C2, type: 'function', function: { name: 'book', arguments: '{}' } },
    ];
    expect(first.body).toEqual({
      sessionId: id,
      status: 'requires_action',
      message: CALLS,
      toolCalls,
      finishReason: 'tool_calls',
      usage: { inputTokens: 100, outputTokens: 10 },
    });
    expect(await service.messages(id)).toEqual([user('Two berths.'), CALLS]);

    const parts = [{ type: 'text', text: 'berth 7' }];
    const second = await say({ sessionId: id, toolResults: [of(C2, parts), of(C1, '')] });

    expect(second.body).toEqual({
      sessionId: id,
      status: 'completed',
      message: assistant('Booked.'),
      finishReason: 'stop',
      usage: { inputTokens: 100, outputTokens: 10 },
    });
    const [c1, c2] = [result(C1, '(empty)'), { role: 'tool', tool_call_id: C2, content: parts }];
    const [, request] = model.bodies;
    expect(request?.messages).toHaveLength(5);
    expect(sent(model, 1).slice(0, 3)).toEqual([AGENT_PROMPT, user('Two berths.'), CALLS]);
    expect(sent(model, 1).slice(3)).toEqual(expect.arrayContaining([c1, c2]));
    expect(await service.messages(id)).toEqual([
      user('Two berths.'),
      CALLS,
      c2,
      result(C1, ''),
      assistant('Booked.'),
    ]);
    const session = await service.call('GET', `/sessions/${id}`);
    expect(session.body).toMatchObject({ kind: 'chat', input_tokens: 200, output_tokens: 20 });
  });

  it('are waited for one by one, without asking the model in between', async () => {
    const { service, model, say, id } = await waiting();
    const some = await say({ sessionId: id, toolResults: [of(C2)] });
    expect(some.body).toEqual({
      sessionId: id,
      status: 'requires_action',
      message: CALLS,
      toolCalls: [{ id: C1, type: 'function', function: { name: 'lookup', arguments: '{"day":12}' } }],
      finishReason: null,
      usage: { inputTokens: null, outputTokens: null },
    });
    // Asking what is waited for changes nothing.
    expect((await say({ sessionId: id })).body).toEqual(some.body);
    expect(model.bodies).toHaveLength(1);
    const rest = await say({ sessionId: id, toolResults: [of(C1)] });
    expect(rest.body).toMatchObject({ status: 'completed', message: assistant('Booked.') });
    expect(sent(model, 1).slice(2)).toEqual([CALLS, result(C2, `r-${C2}`), result(C1, `r-${C1}`)]);
    expect(await service.messages(id)).toHaveLength(5);
  });

  it.each([
    ['of no call', [of('c9')], 409, 'TOOL_CALL_CLOSED'],
    ['of a call and of none', [of(C1), of('c9')], 409, 'TOOL_CALL_CLOSED'],
    ['of one call twice', [of(C1), of(C1)], 400, 'VALIDATION_FAILED'],
  ])('take no results %s', async (_, toolResults, status, code) => {
    const { service, model, say, id } = await waiting();
    const refused = await say({ sessionId: id, toolResults });
    expect([refused.status, refused.body.code]).toEqual([status, code]);
    expect(await service.messages(id)).toEqual([user('Two berths.'), CALLS]);
    expect(model.bodies).toHaveLength(1);
    // The turn still waits.
    const both = await say({ sessionId: id, toolResults: [of(C1), of(C2)] });
    expect(both.body).toMatchObject({ status: 'completed' });
  });

  it('take a result once', async () => {
    const { service, say, id } = await waiting();
    await say({ sessionId: id, toolResults: [of(C1)] });
    const again = await say({ sessionId: id, toolResults: [of(C1)] });
    expect([again.status, again.body.code]).toEqual([409, 'TOOL_CALL_CLOSED']);
    await say({ sessionId: id, toolResults: [of(C2)] });
    const late = await say({ sessionId: id, toolResults: [of(C2)] });
    expect([late.status, late.body.code]).toEqual([409, 'TOOL_CALL_CLOSED']);
    expect(await service.messages(id)).toHaveLength(5);
  });

  it('are abandoned by a new message, and take no results after it', async () => {
    const { service, model, say, id } = await waiting({ MAIN_WIRE: 'strict' });
    const next = await say({ sessionId: id, message: 'Never mind.' });
    expect(next.body).toMatchObject({ status: 'completed' });
    // On the wire they are answered, or the endpoint would refuse them.
    expect(sent(model, 1)).toEqual([
      AGENT_PROMPT,
      user('Two berths.'),
      CALLS,
      result(C1, '(no result recorded)'),
      result(C2, '(no result recorded)'),
      assistant('Understood.'),
      user('Never mind.'),
    ]);
    const late = await say({ sessionId: id, toolResults: [of(C1), of(C2)] });
    expect([late.status, late.body.code]).toEqual([409, 'TOOL_CALL_CLOSED']);
    expect(await service.messages(id)).toEqual([
      user('Two berths.'),
      CALLS,
      user('Never mind.'),
      assistant('Booked.'),
    ]);
  });

  it('take results and a message together, the results first', async () => {
    const { service, say, id } = await waiting({ MAIN_WIRE: 'strict' });
    const both = await say({
      sessionId: id,
      toolResults: [of(C1), of(C2)],
      message: 'And be quick.',
    });
    expect(both.body).toMatchObject({ status: 'completed' });
    const stored = [
      user('Two berths.'),
      CALLS,
      result(C1, `r-${C1}`),
      result(C2, `r-${C2}`),
      user('And be quick.'),
    ];
    expect(await service.messages(id)).toEqual([...stored, assistant('Booked.')]);
  });

  it('stay out of a compaction together with the message that led to them, until the turn is over', async () => {
    const { service, summarizer, say } = await startChat(inTurn(TWO_CALLS, { content: 'Booked.' }), {
      agent,
    });
    const messages = turns(4, 100);
    const id = await service.session(messages);
    await say({ sessionId: id, message: 'KEEP-1 two berths.' });
    expect((await service.compact(id, { compactCount: 99 })).body.newSize).toBe(4);
    expect(summarizer.prompts[0]).not.toContain('KEEP-1');
    expect((await service.compact(id, { compactCount: 99 })).body).toMatchObject({
      alreadyUpToDate: true,
      reason: 'turn_open',
    });
    await say({ sessionId: id, toolResults: [of(C1), of(C2)] });
    expect((await service.compact(id, { compactCount: 99 })).body.newSize).toBe(9);
  });

  it('are given results also where one id was called twice', async () => {
    const { service, say } = await startChat(inTurn({ content: 'Booked.' }), { agent });
    // Replies get ids of their own; a history from elsewhere may have any.
    const sessionId = await service.session([user('Go.'), calls([C1, C1])]);
    const one = await say({ sessionId, toolResults: [of(C1, 'first')] });
    expect(one.body).toMatchObject({ status: 'requires_action' });
    const two = await say({ sessionId, toolResults: [of(C1, 'second')] });
    expect(two.body).toMatchObject({ status: 'completed' });
    expect((await service.messages(sessionId)).slice(2, 4)).toEqual([
      result(C1, 'first'),
      result(C1, 'second'),
    ]);
  });

  it('need a session', async () => {
    const { service, say } = await startChat(inTurn({ content: 'Yes.' }), { agent });
    const refused = await say({ toolResults: [of(C1)] });
    expect([refused.status, refused.body.code]).toEqual([409, 'TOOL_CALL_CLOSED']);
    expect(service.sql('SELECT id FROM sessions')).toEqual([]);
  });
});

describe('the steps of a turn', () => {
  it('end at the limit, and go on from there when asked to', async () => {
    const { service, model } = await startChat((_prompt, _index, { body }) => {
      // The helper answers at once; the clerk asks it five times before it has an answer.
      if (!body.includes('"tools"')) return { content: 'helped' };
      const asked = body.split('"role":"tool"').length - 1;
      return asked === 5 ? { content: 'Done.' } : calling([`h${asked}`, 'helper', '{"input":"help"}']);
    }, {});
    await service.agent('helper');
    await service.agent('boss', { subagents: ['helper'], maxSteps: 3 });
    const say = (body: object) => service.call('POST', '/agents/boss/chat', body);
    const first = await say({ message: 'Go.' });
    expect(first.status).toBe(502);
    expect(first.body).toMatchObject({ code: 'STEP_LIMIT_REACHED', retryable: true });
    const { sessionId } = first.body;
    // Three calls of the model, each with its result: nothing that was paid for is lost.
    expect(await service.messages(sessionId)).toHaveLength(7);
    expect(model.bodies).toHaveLength(6);
    const second = await say({ sessionId });
    expect(second.body).toMatchObject({ status: 'completed', message: assistant('Done.') });
    expect(await service.messages(sessionId)).toHaveLength(12);
  });
});
