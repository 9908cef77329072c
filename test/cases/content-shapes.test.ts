import { describe, expect, it } from 'vitest';
import type { ChatMessage } from '../../src/compaction/measure.js';
import { calls, result, text, user } from '../support/messages.js';
import { strictViolation } from '../support/strict.js';
import {
  ACKNOWLEDGED,
  callOf,
  quoted,
  sessionOf,
  startWithModel,
  summaryOf,
  transcriptOf,
} from './expected.js';

describe('messages without text of their own', () => {
  it('are measured by their calls, whether content is null or missing', async () => {
    const { service } = await startWithModel();
    const { content: _none, ...withoutContent } = calls(['c2']);
    const messages = [
      user(100),
      calls(['c1']),
      result('c1', 100),
      withoutContent,
      result('c2', 100),
      user(100),
    ];
    const id = await service.session(messages);
    const { data } = (await service.call('GET', `/sessions/${id}/messages`)).body;
    expect(data.map(({ chars }) => chars)).toEqual([100, 8, 100, 8, 100, 100]);

    expect((await service.compact(id)).body).toMatchObject({ newSize: 3, compaction: { chars_before: 416 } });

    const { status, body, text: json } = await service.call('GET', `/sessions/${id}/context`);
    const expected = [summaryOf('S1'), ACKNOWLEDGED, ...messages.slice(3)];
    expect({ status, messages: body.messages }).toEqual({ status: 200, messages: expected });
    expect(json).toContain(JSON.stringify(withoutContent));
    const pair = `${summaryOf('S1').content}${ACKNOWLEDGED.content}`.length;
    expect(body).toMatchObject({ tail_count: 3, chars: pair + 208 });
    expect(strictViolation(body.messages)).toBeNull();
  });

  it.each(['null', '[]'])('wait for no results when tool_calls is %s', async (none) => {
    const { service, stub } = await startWithModel();
    const id = await service.session([user(2)], { compactCount: 99 });
    const said = `{"role":"assistant","content":"hi","tool_calls":${none}}`;
    const { status, body } = await service.call('POST', `/sessions/${id}/messages`, `{"messages":[${said}]}`);
    expect({ status, chars: body.data[0]?.chars }).toEqual({ status: 201, chars: 2 });
    const { text: view } = await service.call('GET', `/sessions/${id}/context`);
    expect(view).toContain(`,${said}]`);

    expect((await service.compact(id)).body.newSize).toBe(2);
    expect(quoted(stub.prompts[0], 'transcript')).toBe(transcriptOf(['user', text(2)], ['assistant', 'hi']));
    expect((await service.call('GET', `/sessions/${id}/messages`)).text).toContain(`"message":${said}}`);
  });

  it('take the place of the acknowledgement like any answer when their list of calls is empty', async () => {
    const { service } = await startWithModel();
    const said: ChatMessage = { role: 'assistant', content: 'hi', tool_calls: [] };
    const id = await service.session([user(100), said, user(10)], { compactCount: 80 });
    await service.compact(id);
    expect(await service.view(id)).toEqual([summaryOf('S1'), said, user(10)]);
  });

  it('are stored as sent when parts or lists are empty, and folded without a trace', async () => {
    const { service, stub } = await startWithModel();
    const messages: ChatMessage[] = [
      {
        role: 'user',
        content: [
          { type: 'text', text: '' },
          { type: 'text', text: 'ok' },
        ],
      },
      { role: 'user', content: [] },
      { role: 'user', content: '' },
      { role: 'user', content: [{ type: 'text', text: '' }] },
      { role: 'assistant', content: null, refusal: null },
      user('and?'),
      user(6),
    ];
    const id = await service.session(messages);
    const { data } = (await service.call('GET', `/sessions/${id}/messages`)).body;
    expect(data.map(({ chars }) => chars)).toEqual([2, 0, 0, 0, 0, 4, 6]);
    expect(await service.view(id)).toEqual(messages);

    expect((await service.compact(id)).body.newSize).toBe(6);
    expect(quoted(stub.prompts[0], 'transcript')).toBe(transcriptOf(['user', 'ok'], ['user', 'and?']));
    expect(await service.messages(id)).toEqual(messages);
  });
});

describe('large integers', () => {
  it('are never rounded, in arguments, results, metadata or fields we do not know', async () => {
    const { service, stub } = await startWithModel();
    const args = '{"id":2512292042121000001}';
    const messages = [user(10), callOf('c1', 'find', args), result('c1', '9007199254740993'), user(60)];
    const id = await service.session(messages, { metadata: { n: '9007199254740993' } });
    const odd = '{"role":"user","content":"next?","order":9007199254740993,"ratio":1.10,"2":1,"1":2}';
    await service.call(
      'POST',
      `/sessions/${id}/messages`,
      `{ "messages": [ ${odd.replaceAll(',', ' , ')} ] }`,
    );

    const json = `${JSON.stringify(messages).slice(1, -1)},${odd}`;
    expect((await service.call('GET', `/sessions/${id}/context`)).text).toContain(`{"messages":[${json}]`);
    const { text: list } = await service.call('GET', `/sessions/${id}/messages`);
    for (const message of messages) expect(list).toContain(`"message":${JSON.stringify(message)}}`);
    expect(list).toContain(`"message":${odd}}`);
    expect((await sessionOf(service, id)).metadata).toEqual({ n: '9007199254740993' });

    expect((await service.compact(id, { compactCount: 40 })).body.newSize).toBe(3);
    expect(quoted(stub.prompts[0], 'transcript')).toBe(
      transcriptOf(
        ['user', text(10)],
        ['assistant calls find', args],
        ['result of find', '9007199254740993'],
      ),
    );
    expect((await service.call('GET', `/sessions/${id}/context`)).text).toContain(`,${odd}]`);
  });
});
