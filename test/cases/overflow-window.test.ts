import { describe, expect, it } from 'vitest';
import { text, turns } from '../support/messages.js';
import type { StubScript } from '../support/model-stub.js';
import { compactedSession, quotedIn, startWithModel } from './session-state.js';

const tokensOf = (prompt: string) => Math.ceil(Buffer.byteLength(prompt) / 3);
/** The service's own reserve for the reply: a quarter of the window. */
const promptBudget = (window: number) => window - window / 4;

describe('a summary model with a known window', () => {
  it('gets no request over it, though the chat model takes more', async () => {
    const { service, stub } = await startWithModel((_prompt, index) => ({ content: `S${index}` }), {
      MAIN_MODEL: 'chat-1',
      MAIN_WINDOW_TOKENS: '100000',
      COMPACT_WINDOW_TOKENS: '8000',
    });
    const talk = turns(60, 2_000);
    const id = await service.session(talk);

    const { status, body } = await service.compact(id, { compactCount: 99 });

    expect(status).toBe(200);
    expect(body.session.compact_size).toBe(60);
    expect(stub.prompts.map(tokensOf).filter((tokens) => tokens > promptBudget(8_000))).toEqual([]);
    expect(stub.bodies.every(({ model }) => model === 'stub-1')).toBe(true);
    const quoted = stub.prompts.map((prompt) => quotedIn(prompt, 'transcript') ?? '').join('\n\n');
    for (const { content } of talk) expect(quoted.split(String(content)).length).toBe(2);
    // The budget is used, not only kept: nearly full requests but for the last one.
    expect(stub.prompts.length).toBeLessThanOrEqual(9);
  });

  it('gets no request over it in a script of three bytes a character', async () => {
    const { service, stub } = await startWithModel((_prompt, index) => ({ content: `摘要${index}` }), {
      COMPACT_WINDOW_TOKENS: '8000',
    });
    const id = await service.session([{ role: 'user', content: '渡轮明天九点从四号码头出发'.repeat(2_000) }]);
    expect((await service.compact(id, { compactCount: 99 })).body.session.compact_size).toBe(1);
    expect(stub.prompts.map(tokensOf).filter((tokens) => tokens > promptBudget(8_000))).toEqual([]);
    const [last = ''] = stub.prompts.slice(-1);
    expect(last).toContain('四号码头');
  });

  it('refuses a summary over a quarter of it, and the next request asks for a shorter one', async () => {
    const { service, stub } = await startWithModel(
      (_prompt, index) => ({ content: index === 0 ? '长'.repeat(2_001) : '短'.repeat(2_000) }),
      { COMPACT_WINDOW_TOKENS: '8000' },
    );
    const id = await service.session(turns(8, 2_000));
    const { status, body } = await service.compact(id);
    expect(status).toBe(200);
    expect(body.session.compact_summary).toBe('短'.repeat(2_000));
    expect(stub.prompts.length).toBe(2);
    expect(stub.prompts[1]).toContain('Write a shorter one');
  });

  it('is not overrun by asking for a shorter summary', async () => {
    const { service, stub } = await startWithModel(
      { content: text(7_000) },
      { COMPACT_WINDOW_TOKENS: '8000' },
    );
    const id = await service.session([{ role: 'user', content: text(40_000) }]);
    expect((await service.compact(id, { compactCount: 99 })).body.code).toBe('SUMMARY_TOO_LONG');
    expect(stub.prompts.length).toBe(2);
    expect(stub.prompts.map(tokensOf).filter((tokens) => tokens > promptBudget(8_000))).toEqual([]);
  });

  it('is not overrun by prompt and output cap together', async () => {
    const window = 8_000;
    const counts: number[] = [];
    const script: StubScript = (prompt, index) => {
      const cap = Number(stub.bodies[index]?.['max_tokens']);
      counts.push(tokensOf(prompt) + cap);
      return { content: `S${index}` };
    };
    const { service, stub } = await startWithModel(script, {
      COMPACT_WINDOW_TOKENS: String(window),
      COMPACT_MAX_OUTPUT_TOKENS: '4000',
    });
    const id = await service.session(turns(60, 2_000));
    expect((await service.compact(id, { compactCount: 99 })).status).toBe(200);
    expect(counts.filter((count) => count > window)).toEqual([]);
  });

  it('too small for a summary of another model has that one shortened first, once', async () => {
    const { service, stub } = await startWithModel((_prompt, index) => ({ content: `S${index}` }), {
      COMPACT_WINDOW_TOKENS: '4000',
    });
    const summary = text(7_000);
    const id = await compactedSession(service, turns(12, 500), { summary, size: 4 });
    const { status, body } = await service.compact(id);
    expect(status).toBe(200);
    expect(quotedIn(stub.prompts[0] ?? '', 'summary')).toBe(summary);
    expect(quotedIn(stub.prompts[0] ?? '', 'transcript')).toBeNull();
    expect(quotedIn(stub.prompts[1] ?? '', 'summary')).toBe('S0');
    expect(body.session.compact_summary).toBe(`S${stub.prompts.length - 1}`);
  });

  it('too small for anything gets no request at all', async () => {
    const { service, stub } = await startWithModel({ content: 'S1' }, { COMPACT_WINDOW_TOKENS: '1200' });
    const id = await service.session(turns(12, 500));
    const { status, body } = await service.compact(id);
    expect({ status, code: body.code }).toEqual({ status: 502, code: 'SUMMARY_BUDGET_TOO_SMALL' });
    expect(stub.prompts).toEqual([]);
    expect((await service.call('GET', `/sessions/${id}`)).body).toMatchObject({
      compact_summary: null,
      compact_size: 0,
    });
  });
});
