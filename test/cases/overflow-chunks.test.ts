import { describe, expect, it } from 'vitest';
import type { ChatMessage } from '../../src/compaction/measure.js';
import { assistant, text, turns, user } from '../support/messages.js';
import { OVERFLOW, type StubScript } from '../support/model-stub.js';
import { quotedIn, startWithModel } from './session-state.js';

/** A model that refuses prompts over `limit` characters and otherwise answers S0, S1, ... */
const windowOf =
  (limit: number): StubScript =>
  (prompt, index) =>
    prompt.length > limit ? OVERFLOW : { content: `S${index}` };

/** The text of one message, put together from the pieces that the prompts quote. */
function pieces(prompts: readonly string[], label: string): string {
  const lead = `[${label} (continued)]\n`;
  return prompts
    .map((prompt) => quotedIn(prompt, 'transcript') ?? '')
    .map((quoted) => (quoted.startsWith(lead) ? quoted.slice(lead.length) : quoted))
    .join('');
}

describe('a batch larger than the window', () => {
  it('is folded in chunks that fit, each message once, after one refusal', async () => {
    const { service, stub } = await startWithModel(windowOf(20_000));
    const talk = turns(40, 1_000);
    const id = await service.session(talk);

    const { status, body } = await service.compact(id, { compactCount: 99 });

    expect(status).toBe(200);
    expect(body.session).toMatchObject({ compact_size: 40 });
    const [refused = '', ...accepted] = stub.prompts;
    expect(refused.length).toBeGreaterThan(20_000);
    expect(accepted.length).toBeGreaterThan(1);
    expect(accepted.filter((prompt) => prompt.length > 20_000)).toEqual([]);
    expect(new Set(stub.prompts).size).toBe(stub.prompts.length);
    const met = accepted.join('\n');
    for (const { content } of talk) expect(met.split(String(content)).length).toBe(2);
    expect(body.session.compact_summary).toBe(`S${accepted.length}`);
    for (const [index, prompt] of accepted.entries()) {
      expect(quotedIn(prompt, 'summary')).toBe(index === 0 ? null : `S${index}`);
    }
    expect(body.compaction.requests).toBe(stub.prompts.length);
    expect(body.compaction).toMatchObject({ from_size: 0, to_size: 40, outcome: 'completed' });
    const [only] = service.sql('SELECT count(*) AS n FROM compactions');
    expect(only).toEqual({ n: 1 });
  });

  it('counts tokens only of the answers that reported some', async () => {
    const { service, stub } = await startWithModel(windowOf(20_000));
    const id = await service.session(turns(40, 1_000));
    const { body } = await service.compact(id, { compactCount: 99 });
    const answered = stub.prompts.length - 1;
    expect(body.compaction.usage).toEqual({ input_tokens: answered * 100, output_tokens: answered * 10 });
  });
});

describe('one message larger than any window', () => {
  const around = (giant: ChatMessage) => [
    user(text(100)),
    assistant(text(100)),
    giant,
    assistant(text(100)),
    user(text(100)),
    assistant(text(100)),
  ];

  it('goes to the model in pieces, all of it, and is still in the list', async () => {
    const { service, stub } = await startWithModel(windowOf(20_000));
    const giant = Array.from({ length: 50_000 }, (_, i) => `${String(i).padStart(8, '0')}, `).join('');
    const id = await service.session(around(user(giant)));

    const { status, body } = await service.compact(id, { compactCount: 60 });

    expect(status).toBe(200);
    expect(body.session.compact_size).toBe(3);
    const [before, refused, ...rest] = stub.prompts;
    expect(before?.length).toBeLessThan(20_000);
    expect(refused?.length).toBeGreaterThan(20_000);
    expect(rest.filter((prompt) => prompt.length > 20_000)).toEqual([]);
    expect(pieces(rest, 'user')).toBe(`[user]\n${giant}`);
    expect(new Set(stub.prompts).size).toBe(stub.prompts.length);
    expect(giant.length).toBe(500_000);
    expect((await service.messages(id))[2]?.content).toBe(giant);
    expect((await service.call('GET', `/sessions/${id}/messages?after=1&limit=1`)).body.data[0]?.chars).toBe(
      500_000,
    );
  });

  it('costs no refusal when the window is known', async () => {
    const { service, stub } = await startWithModel(windowOf(24_000), { COMPACT_WINDOW_TOKENS: '8000' });
    const giant = text(100_000, 'GIANT ');
    const id = await service.session(around(user(giant)));

    const { status, body } = await service.compact(id, { compactCount: 60 });

    expect(status).toBe(200);
    expect(body.session.compact_size).toBe(3);
    expect(stub.prompts.filter((prompt) => prompt.length > 24_000)).toEqual([]);
    expect(pieces(stub.prompts.slice(1), 'user')).toBe(`[user]\n${giant}`);
  });

  it('is never cut in the middle of a character', async () => {
    const { service, stub } = await startWithModel(windowOf(4_000));
    const giant = `x${'🛳'.repeat(10_000)}`;
    const id = await service.session(around(user(giant)));

    expect((await service.compact(id, { compactCount: 60 })).body.session.compact_size).toBe(3);

    const accepted = stub.prompts.filter((prompt) => prompt.length <= 4_000);
    expect(pieces(accepted.slice(1), 'user')).toBe(`[user]\n${giant}`);
    expect(stub.prompts.join('')).not.toContain('\uFFFD');
  });

  it('is committed only as a whole, with all of a tool group that it belongs to', async () => {
    const { service, answerWith } = await startWithModel(windowOf(20_000));
    const id = await service.session(around(user(text(60_000))));
    answerWith((prompt, index) => {
      if (index >= 4) return { status: 503, body: { error: { message: 'overloaded' } } };
      return windowOf(20_000)(prompt, index, unused);
    });

    const { status, body } = await service.compact(id, { compactCount: 60 });

    expect(status).toBe(502);
    expect(body.compaction).toMatchObject({ from_size: 0, to_size: 2, outcome: 'partial' });
    const { body: session } = await service.call('GET', `/sessions/${id}`);
    expect(session).toMatchObject({ compact_size: 2, compact_summary: 'S0' });
  });
});

const unused = {
  index: 0,
  connection: 0,
  method: '',
  path: '',
  headers: {},
  body: '',
  receivedAt: 0,
  peerClosedAt: null,
};
