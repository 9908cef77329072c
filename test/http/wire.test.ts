import { describe, expect, it } from 'vitest';
import type { ChatMessage } from '../../src/compaction/measure.js';
import { assistant, calls, result, system, turns, user } from '../support/messages.js';
import { startModelStub } from '../support/model-stub.js';
import { modelAt, startService } from '../support/service.js';
import { strictViolation } from '../support/strict.js';

const broken: ChatMessage[] = [
  { role: 'developer', content: 'Be terse.' },
  result('c0', 'nobody asked'),
  user('Which ferry?'),
  {
    role: 'assistant',
    content: null,
    tool_calls: [
      { id: 'c1', type: 'function', function: { name: 'lookup', arguments: '{"id":2512292042121000001}' } },
      { id: 'c2', type: 'function', function: { name: 'lookup', arguments: '{"path":"a' } },
    ],
  },
  result('c1', ''),
  assistant('The one at 18:30.'),
  {
    role: 'user',
    content: [
      { type: 'text', text: '' },
      { type: 'text', text: 'Thanks \ud83d' },
    ],
  },
];

describe('the context in the form that endpoints take', () => {
  it('is repaired, while the view and what is stored are not', async () => {
    const service = await startService();
    const id = await service.session(broken);
    const { body } = await service.call('GET', `/sessions/${id}/context?form=wire`);
    expect(strictViolation(body.messages)).toBeNull();
    expect(body.messages.map(({ role }) => role)).toEqual([
      'system',
      'user',
      'assistant',
      'tool',
      'tool',
      'assistant',
      'user',
    ]);
    const sent = body.messages[2]?.tool_calls?.map((call) => call.function?.arguments);
    expect(sent).toEqual(['{"id":2512292042121000001}', '{}']);
    expect(body.messages.at(-1)?.content).toEqual([{ type: 'text', text: 'Thanks \ufffd' }]);
    expect(body.chars).toBe(
      body.messages.reduce(
        (sum, { content }) => sum + (typeof content === 'string' ? content.length : 0),
        0,
      ) +
        'Thanks \ufffd'.length +
        2 * 'lookup'.length +
        28,
    );
    expect(await service.view(id)).toEqual(broken);
    expect(await service.messages(id)).toEqual(broken);
  });

  it('has arguments unwrapped, and calls with ids of their own, whose results follow them', async () => {
    const call = (args: string): ChatMessage => ({
      role: 'assistant',
      content: null,
      tool_calls: [{ id: 'call_0', type: 'function', function: { name: 'lookup', arguments: args } }],
    });
    const service = await startService();
    const id = await service.session([
      user('Which ferry?'),
      call('"{\\"id\\":2512292042121000001}"'),
      result('call_0', '1'),
      call('{"a":"\\ud83d"}'),
      result('call_0', '2'),
    ]);
    const { body } = await service.call('GET', `/sessions/${id}/context?form=wire`);
    const sent = body.messages.flatMap(({ tool_calls }) => tool_calls ?? []);
    expect(sent.map((one) => one.function?.arguments)).toEqual([
      '{"id":2512292042121000001}',
      '{"a":"\\ufffd"}',
    ]);
    const ids = sent.map((one) => one.id);
    expect(new Set(ids).size).toBe(2);
    expect(body.messages.flatMap(({ tool_call_id }) => tool_call_id ?? [])).toEqual(ids);
  });

  it('holds the summary once, and its tail', async () => {
    const stub = await startModelStub(() => ({ content: 'SUM-9' }));
    const service = await startService(modelAt(stub.url));
    const id = await service.session([
      system('s'),
      ...turns(6, 100),
      calls(['k']),
      result('k', 'r'),
      user('next?'),
    ]);
    await service.compact(id);
    const view = await service.call('GET', `/sessions/${id}/context`);
    const wire = await service.call('GET', `/sessions/${id}/context?form=wire`);
    expect(wire.body).toEqual(view.body);
    expect(wire.text.split('SUM-9').length).toBe(2);
  });

  it('is what the strictest endpoint wants, where that is configured', async () => {
    const service = await startService({ MAIN_WIRE: 'strict' });
    const id = await service.session([system('a'), system('b'), assistant('hello'), user('x'), user('y')]);
    const { body } = await service.call('GET', `/sessions/${id}/context?form=wire`);
    expect(body.messages.map(({ role }) => role)).toEqual(['system', 'user', 'assistant', 'user']);
    expect(body.messages.at(-1)?.content).toBe('x\n\ny');
    expect(strictViolation(body.messages)).toBeNull();
  });
});
