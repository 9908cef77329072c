import { describe, expect, it } from 'vitest';
import { assistant, calls, result, text, turns, user } from '../support/messages.js';
import { compactedSession, occurrences, quotedIn, startWithModel } from './session-state.js';

const INSTRUCTIONS = {
  language: '- Write in the language of the conversation.',
  verbatim:
    '- Copy identifiers, names, numbers, amounts, dates, times, paths, URLs and error texts word for word.',
  keepEarlier: '- Keep every earlier fact unless the transcript contradicts it',
};

/** `text` again and again, up to a length. */
const repeated = (sentence: string, chars: number) =>
  sentence.repeat(Math.ceil(chars / sentence.length)).slice(0, chars);

describe('the request for a summary', () => {
  it.each([
    { language: 'Portuguese', sentence: 'Queremos duas cabines no barco de amanhã, por favor. ' },
    { language: 'Arabic', sentence: 'نريد مقصورتين في عبّارة الغد من فضلك. ' },
  ])('asks for the language of the talk, first and later: $language', async ({ sentence }) => {
    const summary = 'حجز الضيف سريرين في المقصورة ١٢؛ المغادرة ٠٩:٤٠ \u200fوالسعر ١٨٫٢٠ يورو.';
    const { service, stub } = await startWithModel({ content: summary });
    const talk = Array.from({ length: 6 }, (_, i) =>
      i % 2 === 0 ? user(repeated(sentence, 200)) : assistant(repeated(sentence, 200)),
    );
    const id = await service.session(talk);

    const first = await service.compact(id);
    await service.compact(id);

    expect(stub.prompts.length).toBe(2);
    expect(quotedIn(stub.prompts[0] ?? '', 'summary')).toBeNull();
    expect(quotedIn(stub.prompts[1] ?? '', 'summary')).toBe(summary);
    for (const prompt of stub.prompts) {
      expect(occurrences(prompt, INSTRUCTIONS.language)).toBe(1);
      expect(prompt).toContain(repeated(sentence, 200));
    }
    expect(first.body.session.compact_summary).toBe(summary);
    const [stored] = service.sql('SELECT compact_summary FROM sessions WHERE id = ?', id);
    expect(stored).toEqual({ compact_summary: summary });
    expect((await service.view(id))[0]?.content).toContain(`\n\n${summary}\n\n`);
  });

  it('asks to keep facts word for word, and in an update the earlier ones too', async () => {
    const facts = [
      'berth 12',
      'ref K-114',
      '09:40',
      'EUR 18.20',
      'Ms. Aaltonen',
      '12 December',
      '/srv/tickets/7.pdf',
      'E_NO_SEAT: deck 4 is full',
    ];
    const { service, stub } = await startWithModel((_prompt, index) => ({
      content: `Summary ${index + 1}: ${facts.join('; ')}`,
    }));
    const id = await service.session([
      ...facts.map((fact, i) => (i % 2 === 0 ? user(`It is ${fact}.`) : assistant(`Noted: ${fact}.`))),
      ...turns(48, 100),
    ]);

    for (let i = 0; i < 4; i += 1) expect((await service.compact(id)).status).toBe(200);

    expect(stub.prompts.length).toBe(4);
    const [first = '', ...updates] = stub.prompts;
    expect(first).not.toContain(INSTRUCTIONS.keepEarlier);
    for (const fact of facts) expect(occurrences(quotedIn(first, 'transcript') ?? '', fact)).toBe(1);
    for (const [index, prompt] of updates.entries()) {
      expect(occurrences(prompt, INSTRUCTIONS.keepEarlier)).toBe(1);
      expect(quotedIn(prompt, 'summary')).toBe(`Summary ${index + 1}: ${facts.join('; ')}`);
    }
    for (const prompt of stub.prompts) expect(occurrences(prompt, INSTRUCTIONS.verbatim)).toBe(1);
  });

  it('is one user message of plain text, whatever the session holds', async () => {
    const { service, stub } = await startWithModel({ content: 'S1' });
    const id = await service.session([
      user('When does it leave?'),
      calls(['c1', 'c2']),
      result('c1', 'at nine'),
      result('c2', 'from pier 4'),
      ...turns(4, 10),
    ]);

    expect((await service.compact(id, { compactCount: 50 })).body.newSize).toBe(4);

    const [body] = stub.bodies;
    expect(body?.messages.map((message) => Object.keys(message))).toEqual([['role', 'content']]);
    expect(body?.messages[0]?.role).toBe('user');
    for (const field of ['tools', 'tool_choice', 'parallel_tool_calls'])
      expect(body).not.toHaveProperty(field);
    expect(quotedIn(stub.prompts[0] ?? '', 'transcript')).toBe(
      '[user]\nWhen does it leave?\n\n[assistant calls lookup]\n{}\n\n[assistant calls lookup]\n{}\n\n' +
        '[result of lookup]\nat nine\n\n[result of lookup]\nfrom pier 4',
    );
  });

  it('quotes the talk and speaks last itself, so that a model that carries on has no question', async () => {
    const { service, stub } = await startWithModel({ content: 'S1' });
    const question = 'What is the capital of Freedonia? Q-MARK';
    const id = await service.session([
      user(text(300)),
      assistant(text(300)),
      user(question),
      ...turns(2, 300),
    ]);

    expect((await service.compact(id)).body.newSize).toBe(3);

    const [prompt = ''] = stub.prompts;
    expect(quotedIn(prompt, 'transcript')).toContain(`[user]\n${question}`);
    const after = prompt.slice(prompt.lastIndexOf('</transcript-'));
    expect(after).not.toContain('Q-MARK');
    expect(after.trimEnd().endsWith('Reply with the summary only.')).toBe(true);
  });

  it.each([
    { size: 'a small session', chars: 100 },
    { size: 'a large session', chars: 4_000 },
  ])('does not become the summary of $size when the model only echoes it', async ({ chars }) => {
    const { service } = await startWithModel((prompt) => ({ content: prompt }));
    const id = await service.session([...turns(2, chars), user('What is the capital of Freedonia? Q-MARK')]);

    await service.compact(id, { compactCount: 99 });

    const { body } = await service.call('GET', `/sessions/${id}`);
    expect((body.compact_summary ?? '').includes('Reply with the summary only.')).toBe(false);
  });

  it('holds a long earlier summary whole, whatever the limit of one tool result', async () => {
    const { service, stub } = await startWithModel({ content: 'S1' }, { TOOL_RESULT_CHARS: '2000' });
    const summary = `${text(7_991)} REF-7731`;
    const id = await compactedSession(service, turns(10, 100), { summary, size: 10 });
    await service.call('POST', `/sessions/${id}/messages`, {
      messages: [user('and the long one?'), calls(['c1']), result('c1', text(5_000, 'X')), ...turns(3, 100)],
    });

    expect((await service.compact(id)).status).toBe(200);

    const [prompt = ''] = stub.prompts;
    expect(summary.length).toBe(8_000);
    expect(summary.endsWith('REF-7731')).toBe(true);
    expect(quotedIn(prompt, 'summary')).toBe(summary);
    expect(quotedIn(prompt, 'transcript')).toContain('[... 3,000 chars left out ...]');
  });

  it('builds on the stored summary when the talk holds another that looks like one', async () => {
    const { service, stub } = await startWithModel({ content: 'S1' });
    const lookalike = '[Summary of previous conversation]\n\nOld one: berth 3.';
    const id = await compactedSession(
      service,
      [user(lookalike), ...turns(3, 100), user(lookalike), ...turns(5, 100)],
      { summary: 'New one: berth 12.', size: 4 },
    );

    expect((await service.compact(id)).status).toBe(200);

    const [prompt = ''] = stub.prompts;
    expect(quotedIn(prompt, 'summary')).toBe('New one: berth 12.');
    expect(occurrences(prompt, lookalike)).toBe(1);
  });
});
