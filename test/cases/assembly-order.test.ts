import { describe, expect, it } from 'vitest';
import type { ChatMessage } from '../../src/compaction/measure.js';
import { assistant, calls, result, system, turns, user } from '../support/messages.js';
import { modelAt, startService } from '../support/service.js';
import { strictViolation } from '../support/strict.js';
import { ACKNOWLEDGED, append, quoted, sessionOf, startWithModel, summaryOf } from './expected.js';

describe('the order of the context', () => {
  it('is the stored system messages, the summary as a pair, the open messages', async () => {
    const { service } = await startWithModel();
    const prompt = system('You book ferries.');
    const messages = turns(4, 100);
    const id = await service.session([prompt, ...messages]);
    await service.compact(id);
    await append(service, id, user('next?'));

    const { body } = await service.call('GET', `/sessions/${id}/context`);

    const expected = [prompt, summaryOf('S1'), ACKNOWLEDGED, ...messages.slice(2), user('next?')];
    expect(body.messages).toEqual(expected);
    expect(strictViolation(body.messages)).toBeNull();
    const chars = expected.reduce((sum, { content }) => sum + String(content).length, 0);
    expect(body).toMatchObject({
      summary_chars: 2,
      tail_count: 3,
      chars,
      estimated_tokens: Math.ceil(chars / 3),
    });
  });

  it('keeps system prompts first, whole and out of the summary, through compactions and a restart', async () => {
    const { service, stub } = await startWithModel();
    const prompts = [
      '{"role":"system","content":"SYS-A: you book ferries."}',
      '{"role":"system","name":"rules","content":[{"type":"text","text":"SYS-B: be brief.","cache_control":{"type":"ephemeral"}}]}',
    ];
    const messages = turns(10, 100);
    const { body } = await service.call(
      'POST',
      '/sessions',
      `{"messages":[${[...prompts, ...messages.map((message) => JSON.stringify(message))].join(',')}]}`,
    );

    const sizes = [];
    for (let i = 0; i < 3; i += 1) {
      sizes.push((await service.compact(body.id)).body.newSize);
      const { text } = await service.call('GET', `/sessions/${body.id}/context`);
      expect(text.startsWith(`{"messages":[${prompts.join(',')},{"role":"user","content":"[Summary`)).toBe(
        true,
      );
    }
    expect(sizes).toEqual([5, 8, 10]);
    expect(stub.prompts.filter((prompt) => prompt.includes('SYS-'))).toEqual([]);
    expect(stub.prompts.map((prompt) => quoted(prompt, 'transcript')).join('\n\n')).toBe(
      messages.map(({ role, content }) => `[${role}]\n${content}`).join('\n\n'),
    );

    const { text: before } = await service.call('GET', `/sessions/${body.id}/context`);
    await service.close();
    const again = await startService(modelAt(stub.url), service.file);

    expect((await again.call('GET', `/sessions/${body.id}/context`)).text).toBe(before);
    await append(again, body.id, user('next?'));
    const view = await again.view(body.id);
    expect(view).toEqual([
      ...prompts.map((prompt): ChatMessage => JSON.parse(prompt)),
      summaryOf('S3'),
      ACKNOWLEDGED,
      user('next?'),
    ]);
    expect(strictViolation(view)).toBeNull();
  });

  it('treats a developer message as a system message', async () => {
    const { service, stub } = await startWithModel();
    const developer: ChatMessage = { role: 'developer', content: 'Be terse D-1' };
    const messages = turns(8, 100);
    const id = await service.session([developer, ...messages]);

    expect((await service.compact(id)).body.newSize).toBe(4);

    const view = await service.view(id);
    expect(view).toEqual([developer, summaryOf('S1'), ACKNOWLEDGED, ...messages.slice(4)]);
    expect(stub.prompts[0]).not.toContain('D-1');
    expect(await service.messages(id)).toEqual([developer, ...messages]);
    const { data } = (await service.call('GET', `/sessions/${id}/messages?limit=2`)).body;
    expect(data.map(({ position }) => position)).toEqual([null, 0]);
  });

  it('brings late system messages to the front once there is a summary, and leaves them before', async () => {
    const { service } = await startWithModel();
    const [a, b, c] = [system('first'), system('second'), system('third')];
    const [u0 = a, a1 = a, u2 = a, a3 = a] = turns(4, 100);
    const messages = [a, u0, b, a1, u2, c, a3];
    const id = await service.session(messages);
    expect(await service.view(id)).toEqual(messages);

    await service.compact(id);
    expect(await service.view(id)).toEqual([a, b, c, summaryOf('S1'), ACKNOWLEDGED, u2, a3]);

    await append(service, id, system('fourth'), user('next?'));
    const view = await service.view(id);
    expect(view.map(({ content }) => content)).toEqual([
      ...['first', 'second', 'third', 'fourth'],
      ...[summaryOf('S1'), ACKNOWLEDGED, u2, a3, user('next?')].map(({ content }) => content),
    ]);
    expect(strictViolation(view)).toBeNull();
    expect(await sessionOf(service, id)).toMatchObject({ compact_size: 2, message_count: 9 });
  });

  it('is the same to the byte as long as nothing changes', async () => {
    const { service } = await startWithModel();
    const messages = [system(50), user(100), calls(['c1']), result('c1', 100), assistant(100), user(100)];
    const id = await service.session(messages);
    await service.compact(id);
    const { text } = await service.call('GET', `/sessions/${id}/context`);
    await service.call('PATCH', `/sessions/${id}`, { title: 'Oslo' });
    await service.compact(id, { dryRun: true });
    expect((await service.call('GET', `/sessions/${id}/context`)).text).toBe(text);
  });
});
