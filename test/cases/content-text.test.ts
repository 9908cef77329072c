import { describe, expect, it } from 'vitest';
import type { ChatMessage } from '../../src/compaction/measure.js';
import { assistant, calls, text, user } from '../support/messages.js';
import { callOf, quoted, sessionOf, startWithModel, summaryOf, transcriptOf } from './expected.js';

describe('half of a surrogate pair', () => {
  it.each([
    ['\\ud83d tail', '\ufffd tail'],
    ['head \\ude00', 'head \ufffd'],
    ['\\ude00\\ud83d', '\ufffd\ufffd'],
    ['pair \\ud83d\\ude00 stays', 'pair \u{1f600} stays'],
  ])('%s is stored as sent and repaired on its way to the model', async (escaped, sent) => {
    const { service, stub } = await startWithModel();
    const raw = `{"role":"user","content":"${escaped}"}`;
    const { body } = await service.call(
      'POST',
      '/sessions',
      `{"messages":[${raw},{"role":"user","content":"x"}]}`,
    );
    expect((await service.call('GET', `/sessions/${body.id}/context`)).text).toContain(
      `{"messages":[${raw},`,
    );

    const { status } = await service.compact(body.id, { compactCount: 40 });

    expect(status).toBe(200);
    expect(quoted(stub.prompts[0], 'transcript')).toBe(`[user]\n${sent}`);
    expect(stub.server.requests[0]?.body).not.toMatch(/\\ud[89a-f]/i);
    expect((await service.call('GET', `/sessions/${body.id}/messages`)).text).toContain(`"message":${raw}}`);
  });

  it('is repaired in arguments, names and instructions, and in a summary before it is stored', async () => {
    const half = '\ud83d';
    const { service, stub } = await startWithModel(() => ({ content: `half ${half} of it` }));
    const messages: ChatMessage[] = [
      { role: 'user', name: `A${half}`, content: text(20) },
      callOf('c1', `find${half}`, `{"q":"${half}"}`),
      user(10),
    ];
    const id = await service.session(messages, { compactCount: 60 });
    const { status } = await service.compact(id, { instructions: `keep ${half}` });

    expect(status).toBe(200);
    expect(stub.prompts[0]?.isWellFormed()).toBe(true);
    expect(quoted(stub.prompts[0], 'wishes')).toBe('keep \ufffd');
    expect(quoted(stub.prompts[0], 'transcript')).toBe(
      transcriptOf(['user (A\ufffd)', text(20)], ['assistant calls find\ufffd', '{"q":"\ufffd"}']),
    );
    expect((await sessionOf(service, id)).compact_summary).toBe('half \ufffd of it');
    expect(await service.messages(id)).toEqual(messages);
  });

  it('is never made by an excerpt of a long tool result', async () => {
    const { service, stub } = await startWithModel(undefined, { TOOL_RESULT_CHARS: '100' });
    const faces = '\u{1f600}'.repeat(200);
    for (const shift of ['', 'x', 'xx']) {
      const answer: ChatMessage = { role: 'tool', tool_call_id: 'c1', content: shift + faces };
      const id = await service.session([calls(['c1']), answer, user(10)], { compactCount: 50 });
      expect((await service.compact(id)).body.newSize).toBe(2);
      expect((await service.messages(id))[1]).toEqual(answer);
    }
    expect(stub.prompts.map((prompt) => [prompt.isWellFormed(), prompt.includes('\ufffd')])).toEqual(
      Array(3).fill([true, false]),
    );
  });
});

describe('the length of text', () => {
  it.each([
    ['Han characters', '\u6f22'.repeat(100), 100],
    ['emoji, two units each', '\u{1f600}'.repeat(50), 100],
    ['combining marks, one unit each', 'e\u0301'.repeat(50), 100],
  ])('is counted in UTF-16 units: %s', async (_name, content, chars) => {
    const { service } = await startWithModel();
    const id = await service.session([user(content), assistant(100), user(100), assistant(100)]);
    const { data } = (await service.call('GET', `/sessions/${id}/messages`)).body;

    expect(data[0]?.chars).toBe(chars);
    expect((await service.compact(id)).body.newSize).toBe(2);
  });

  it('is not what tokens are estimated from: Han text counts about a token each', async () => {
    const { service } = await startWithModel();
    const id = await service.session([user('\u6f22'.repeat(60_000))]);
    const { body } = await service.call('GET', `/sessions/${id}/context`);
    expect(body).toMatchObject({ chars: 60_000, estimated_tokens: 60_000 });
  });
});

describe('right-to-left text, marks and odd spaces', () => {
  const arabic =
    '\u200f\u0645\u0631\u062d\u0628\u064b\u0627 \u202b\u0631\u0642\u0645 12\u202c \u0664\u0662 EUR';
  const hebrew = '\u05e9\u05b8\u05c1\u05dc\u05d5\u05b9\u05dd \u202bC-3 \u05e8\u05e6\u05d9\u05e3\u202c\u200f';
  const mixed = '  e\u0301 \u00e9 \u2126 \u03a9 \ufb01 \u0000 \u2028 \u200d \ufeff\r\n\t ';

  it('are the same to the byte in the store, the list, the summary request and the context', async () => {
    const summary = `\u202b${arabic}\u202c e\u0301 \u00e9`;
    const { service, stub } = await startWithModel(() => ({ content: summary }));
    const messages = [user(arabic), assistant(hebrew), user(mixed), assistant(100)];
    const id = await service.session(messages);
    expect(await service.messages(id)).toEqual(messages);
    expect(await service.view(id)).toEqual(messages);

    const folded = arabic.length + hebrew.length + mixed.length;
    const compactCount = Math.floor((100 * folded) / (folded + 100));
    expect((await service.compact(id, { compactCount })).body.newSize).toBe(3);

    expect(quoted(stub.prompts[0], 'transcript')).toBe(
      transcriptOf(['user', arabic], ['assistant', hebrew], ['user', mixed]),
    );
    expect(await service.view(id)).toEqual([summaryOf(summary), assistant(100)]);
    expect(await service.messages(id)).toEqual(messages);
    const rows = service.sql('SELECT body FROM messages ORDER BY seq');
    expect(rows).toEqual(messages.map((message) => ({ body: JSON.stringify(message) })));
  });
});
