import { describe, expect, it } from 'vitest';
import type { ChatMessage } from '../../src/compaction/measure.js';
import { chatAt, inTurn, PROMPT, sent, startChat, startStrictModel } from '../support/chat.js';
import { assistant, calls, result, system, turns, user } from '../support/messages.js';
import { calling } from '../support/model-stub.js';
import { startService } from '../support/service.js';
import { ACKNOWLEDGED, callOf, quoted, sessionOf, summaryOf } from './expected.js';

const AGENT_PROMPT = system(PROMPT);
const lookup = { type: 'function', function: { name: 'lookup', parameters: { type: 'object' } } };

describe('what a chat sends', () => {
  it('is the system messages, the summary once, the open messages and the new one, and nothing else', async () => {
    const { service, model, say } = await startChat(inTurn({ content: 'Berth 12.' }));
    const stored = system('Ferries only.');
    const messages = turns(4, 100);
    const id = await service.session([stored, ...messages]);
    await service.compact(id);

    expect((await say({ sessionId: id, message: 'Which berth?' })).status).toBe(200);

    expect(model.bodies).toHaveLength(1);
    expect(sent(model, 0)).toEqual([
      AGENT_PROMPT,
      stored,
      summaryOf('S1'),
      ACKNOWLEDGED,
      ...messages.slice(2),
      user('Which berth?'),
    ]);
    expect(await service.messages(id)).toEqual([
      stored,
      ...messages,
      user('Which berth?'),
      assistant('Berth 12.'),
    ]);
    expect(await sessionOf(service, id)).toMatchObject({ compact_size: 2, message_count: 7 });
  });

  it('begins with both system messages as they were given, through compactions and a restart', async () => {
    const { service, model, summarizer, say } = await startChat(inTurn({ content: 'Yes.' }));
    const prompts = [
      '{"role":"system","content":"SYS-A: you book ferries."}',
      '{"role":"system","content":[{"type":"text","text":"SYS-B: be brief."}]}',
    ];
    const { body } = await service.call(
      'POST',
      '/sessions',
      `{"messages":[${[...prompts, ...turns(10, 100).map((message) => JSON.stringify(message))].join(',')}]}`,
    );
    const wire = (index: number) => model.server.requests[index]?.body ?? '';
    const opening = `"messages":[${[JSON.stringify(AGENT_PROMPT), ...prompts].join(',')},{"role":"user","content":"[Summary`;
    for (let i = 0; i < 3; i += 1) {
      expect((await service.compact(body.id)).status).toBe(200);
      expect((await say({ sessionId: body.id, message: `Question ${i}` })).status).toBe(200);
      expect(wire(i)).toContain(opening);
    }
    expect(summarizer.prompts.filter((prompt) => prompt.includes('SYS-'))).toEqual([]);

    await service.close();
    const again = await startService(chatAt(model.url, summarizer.url), service.file);
    const last = await again.call('POST', '/agents/clerk/chat', { sessionId: body.id, message: 'And now?' });
    expect(last.status).toBe(200);
    expect(wire(3)).toContain(opening);
    const { compact_size: size } = await sessionOf(again, body.id);
    const open = (await again.messages(body.id)).slice(2).slice(size, -1);
    expect(sent(model, 3).slice(5)).toEqual(open);
  });

  it('calls a developer message a system message, and asks once', async () => {
    const model = await startStrictModel((_prompt, _index, { body }) =>
      body.includes('"developer"')
        ? { status: 400, body: { error: { message: "Invalid role: 'developer'" } } }
        : { content: 'Yes.' },
    );
    const service = await startService(chatAt(model.url, model.url));
    await service.agent('clerk');
    const developer: ChatMessage = { role: 'developer', content: 'Be terse D-1' };
    const messages = turns(8, 100);
    const id = await service.session([developer, ...messages]);
    await service.compact(id);
    expect(model.prompts[0]).not.toContain('D-1');

    const answer = await service.call('POST', '/agents/clerk/chat', { sessionId: id, message: 'Now?' });

    expect(answer.status).toBe(200);
    expect(model.bodies).toHaveLength(2);
    expect(sent(model, 1)).toEqual([
      system('Be terse D-1'),
      summaryOf('Yes.'),
      ACKNOWLEDGED,
      ...messages.slice(4),
      user('Now?'),
    ]);
    expect((await service.messages(id))[0]).toEqual(developer);
    expect(await sessionOf(service, id)).toMatchObject({ compact_size: 4 });
  });

  it('takes a conversation that begins with a greeting', async () => {
    const { service, model, say } = await startChat(inTurn({ content: 'At seven.' }));
    const greeting = assistant('Welcome aboard'.padEnd(100, '.'));
    const rest = [user(100), assistant(100)];
    const id = await service.session([greeting, ...rest, user(100)], { compactCount: 25 });
    expect((await service.compact(id)).body.newSize).toBe(1);

    expect((await say({ sessionId: id })).status).toBe(200);

    expect(sent(model, 0)).toEqual([AGENT_PROMPT, summaryOf('S1'), ACKNOWLEDGED, ...rest, user(100)]);
    expect((await service.messages(id))[0]).toEqual(greeting);
  });

  it('holds a user message also when none is left open in a long run of tools', async () => {
    const { service, model, summarizer, say } = await startChat(inTurn({ content: 'Done.' }), {
      agent: { tools: [lookup] },
    });
    const rounds = Array.from({ length: 6 }, (_, i) => [calls([`c${i}`]), result(`c${i}`, 1_000)]).flat();
    const id = await service.session([user(1_000), ...rounds], { compactCount: 50 });
    const { newSize } = (await service.compact(id)).body;
    expect(newSize).toBe(7);

    expect((await say({ sessionId: id })).status).toBe(200);

    expect(summarizer.prompts).toHaveLength(1);
    // An assistant message that comes first takes the place of the acknowledgement.
    expect(sent(model, 0)).toEqual([AGENT_PROMPT, summaryOf('S1'), ...rounds.slice(6)]);
  });

  it('is nothing at all when there is nothing to answer', async () => {
    const { service, model, say } = await startChat(inTurn({ content: 'Hello.' }));
    const id = await service.session(turns(4, 100), { compactCount: 99 });
    expect((await service.compact(id)).body.newSize).toBe(4);
    const before = await sessionOf(service, id);

    const refused = await say({ sessionId: id });
    expect([refused.status, refused.body.code]).toEqual([409, 'NOTHING_TO_ANSWER']);
    const unsummarized = await service.session(turns(4, 100));
    expect((await say({ sessionId: unsummarized })).body.code).toBe('NOTHING_TO_ANSWER');
    expect((await say({})).body.code).toBe('NOTHING_TO_ANSWER');
    expect(model.bodies).toEqual([]);
    expect(await sessionOf(service, id)).toEqual(before);
    expect(service.sql('SELECT count(*) AS n FROM sessions')).toEqual([{ n: 2 }]);

    expect((await say({ sessionId: id, message: 'Then this.' })).status).toBe(200);
    expect(sent(model, 0)).toEqual([AGENT_PROMPT, summaryOf('S1'), ACKNOWLEDGED, user('Then this.')]);
  });

  it('is not written into the session', async () => {
    const { service, summarizer, say } = await startChat(inTurn({ content: 'Yes.' }), {
      summaries: inTurn({ content: 'SUM-9 of ten messages' }),
    });
    const messages = turns(10, 100);
    const id = await service.session(messages);
    await service.compact(id);
    const said = ['one', 'two', 'three'];
    for (const message of said) expect((await say({ sessionId: id, message })).status).toBe(200);

    expect(summarizer.prompts).toHaveLength(1);
    expect(await service.messages(id)).toEqual([
      ...messages,
      ...said.flatMap((message) => [user(message), assistant('Yes.')]),
    ]);
    const stored = service.sql('SELECT body FROM messages');
    expect(stored).toHaveLength(16);
    expect(JSON.stringify(stored)).not.toMatch(/SUM-9|Summary of previous|Understood\. I have/);
    expect(await sessionOf(service, id)).toMatchObject({ message_count: 16, compact_size: 5 });
  });

  it('has the summary once in each request of a tool loop, repeated requests included', async () => {
    const ask = (id: string) => calling([id, 'lookup']);
    const { service, model, say } = await startChat(
      inTurn(ask('c1'), { status: 503, body: { error: { message: 'overloaded' } } }, ask('c2'), ask('c3'), {
        content: 'Done.',
      }),
      {
        agent: { tools: [lookup] },
        variables: { MAIN_RETRIES: '1' },
        summaries: inTurn({ content: 'SUM-9' }),
      },
    );
    const messages = turns(10, 100);
    const id = await service.session(messages);
    await service.compact(id);
    let answer = await say({ sessionId: id, message: 'Go.' });
    for (const call of ['c1', 'c2', 'c3']) {
      expect(answer.body).toMatchObject({ status: 'requires_action', toolCalls: [{ id: call }] });
      answer = await say({ sessionId: id, toolResults: [{ toolCallId: call, content: `r-${call}` }] });
    }
    expect(answer.body).toMatchObject({ status: 'completed' });

    expect(model.bodies).toHaveLength(5);
    const loop = ['c1', 'c2', 'c3'].flatMap((call) => [
      callOf(call, 'lookup', '{}'),
      result(call, `r-${call}`),
    ]);
    const start = [AGENT_PROMPT, summaryOf('SUM-9'), ...messages.slice(5), user('Go.')];
    expect(model.bodies.map((_, index) => sent(model, index))).toEqual(
      [0, 2, 2, 4, 6].map((length) => [...start, ...loop.slice(0, length)]),
    );
  });

  it('knows nothing of a blank summary', async () => {
    const { service, model, say } = await startChat(inTurn({ content: 'Yes.' }));
    const messages = turns(6, 100);
    const id = await service.session(messages);
    service.sql(`UPDATE sessions SET compact_summary = '', compact_size = 2 WHERE id = ?`, id);
    expect((await say({ sessionId: id, message: 'Next?' })).status).toBe(200);
    expect(sent(model, 0)).toEqual([AGENT_PROMPT, ...messages, user('Next?')]);
  });

  it('says of the summary that it is a record, and has no order of ours in it', async () => {
    const { service, model, say } = await startChat(inTurn({ content: 'Yes.' }), {
      summaries: inTurn({ content: 'Next: delete sheet 4 (done)' }),
    });
    const id = await service.session(turns(4, 100), { compactCount: 99 });
    await service.compact(id);
    await say({ sessionId: id, message: 'What is left?' });
    expect(sent(model, 0)).toEqual([
      AGENT_PROMPT,
      user(
        '[Summary of previous conversation]\n\nNext: delete sheet 4 (done)\n\n' +
          '[End of summary: a record of what was said and done, not a new request.]',
      ),
      assistant('Understood. I have the context of our previous conversation.'),
      user('What is left?'),
    ]);
  });
});

describe('reasoning of a reply that calls tools', () => {
  it('is stored, given out, sent back with the call, and not summarized', async () => {
    const think = { ...calling(['c1', 'lookup']).message, reasoning_content: 'why R-2' };
    const { service, model, summarizer, say } = await startChat(
      (_prompt, index, { body }) => {
        if (index === 0) return { content: null, finish: 'tool_calls', message: think };
        return body.includes('"reasoning_content":"why R-2"')
          ? { content: 'Done.' }
          : { status: 400, body: { error: { message: 'The reasoning is missing' } } };
      },
      { agent: { tools: [lookup] } },
    );
    const first = await say({ message: 'Go.' });
    const message = { role: 'assistant', content: null, ...think };
    expect(first.body).toMatchObject({ status: 'requires_action', message });
    const { sessionId } = first.body;
    const second = await say({ sessionId, toolResults: [{ toolCallId: 'c1', content: 'r1' }] });
    expect(second.status).toBe(200);
    expect(sent(model, 1)).toEqual([AGENT_PROMPT, user('Go.'), message, result('c1', 'r1')]);
    expect(await service.messages(sessionId)).toEqual([
      user('Go.'),
      message,
      result('c1', 'r1'),
      assistant('Done.'),
    ]);
    await service.compact(sessionId, { compactCount: 99 });
    expect(quoted(summarizer.prompts[0], 'transcript')).toContain('lookup');
    expect(summarizer.prompts[0]).not.toContain('R-2');
  });
});
