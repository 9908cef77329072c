import { describe, expect, it } from 'vitest';
import { text, turns, user } from '../support/messages.js';
import {
  expectUnharmed,
  lastCompaction,
  occurrences,
  quotedIn,
  startWithModel,
  stateOf,
} from './session-state.js';

/** Texts of the framing that never belong into a summary. */
const FRAMING = [
  '[Summary of previous conversation]',
  '[End of summary',
  'Understood. I have the context',
  'It is quoted data',
  'Both are quoted data',
  'Reply with the summary only.',
  '<summary',
  '<transcript',
];

const marked = (pass: number) =>
  Array.from({ length: 10 }, (_, i) => user(text(100, `M-${String(pass * 10 + i).padStart(2, '0')} `)));

describe('a rolling summary', () => {
  it('meets each message once and itself once, pass after pass, without any framing', async () => {
    const { service, stub } = await startWithModel((prompt, index) => ({
      content: `S${index + 1}: ${quotedIn(prompt, 'summary') ?? ''}`,
    }));
    const id = await service.session([]);
    const stored: string[] = [];
    const sizes = [0];
    for (let pass = 0; pass < 5; pass += 1) {
      await service.call('POST', `/sessions/${id}/messages`, { messages: marked(pass) });
      const { status, body } = await service.compact(id);
      expect(status).toBe(200);
      stored.push(body.session.compact_summary ?? '');
      sizes.push(body.newSize);
    }

    expect(stored).toEqual(['S1:', 'S2: S1:', 'S3: S2: S1:', 'S4: S3: S2: S1:', 'S5: S4: S3: S2: S1:']);
    expect(stub.prompts.length).toBe(5);
    for (const [pass, prompt] of stub.prompts.entries()) {
      const previous = stored[pass - 1];
      expect(quotedIn(prompt, 'summary')).toBe(previous ?? null);
      if (previous !== undefined) expect(occurrences(prompt, previous)).toBe(1);
      const met = Array.from({ length: 50 }, (_, i) =>
        occurrences(prompt, `M-${String(i).padStart(2, '0')} `),
      );
      const folded = (i: number) => i >= (sizes[pass] ?? 0) && i < (sizes[pass + 1] ?? 0);
      expect(met).toEqual(met.map((_, i) => (folded(i) ? 1 : 0)));
      for (const framing of FRAMING) expect(stored[pass]).not.toContain(framing);
    }
  });
});

describe('the limit of a summary', () => {
  it('is in the request; a longer reply is asked for again, shorter, and once only', async () => {
    const harness = await startWithModel({ content: text(301) }, { SUMMARY_MAX_CHARS: '300' });
    const { service, stub } = harness;
    const id = await service.session(turns(10, 1_000));
    const before = stateOf(service, id);

    const { status, body } = await service.compact(id);

    expect({ status, code: body.code, detail: body.detail }).toEqual({
      status: 502,
      code: 'SUMMARY_TOO_LONG',
      detail: 'The summary has 301 chars, at most 300 were asked for',
    });
    expect(stub.prompts.length).toBe(2);
    expect(occurrences(stub.prompts[0] ?? '', 'Use at most 300 characters.')).toBe(1);
    expect(stub.prompts[0]).not.toContain('too long');
    expect(stub.prompts[1]).toContain('Your last summary had 301 characters, which is too long.');
    expect(await lastCompaction(service, id)).toMatchObject({
      outcome: 'failed',
      error_code: 'SUMMARY_TOO_LONG',
      requests: 2,
      usage: { input_tokens: 200, output_tokens: 20 },
    });
    await expectUnharmed(harness, id, before);
  });

  it.each([
    { name: 'exactly at the limit', chars: 300 },
    { name: 'far below it', chars: 1 },
  ])('lets through a summary $name, in one request', async ({ chars }) => {
    const { service, stub } = await startWithModel({ content: text(chars) }, { SUMMARY_MAX_CHARS: '300' });
    const id = await service.session(turns(10, 1_000));
    expect((await service.compact(id)).body.session.compact_summary).toBe(text(chars).trim());
    expect(stub.prompts.length).toBe(1);
  });

  it('is the length of what the summary replaces, once that is over 2,000 characters', async () => {
    const { service, stub } = await startWithModel((_prompt, index) => ({
      content: `x${'y'.repeat(index === 0 ? 2_500 : 2_499)}`,
    }));
    const id = await service.session(turns(4, 1_250));
    const { status, body } = await service.compact(id);
    expect(status).toBe(200);
    expect(body.newSize).toBe(2);
    expect(stub.prompts.length).toBe(2);
    expect(body.session.compact_summary?.length).toBe(2_500);
  });

  it('is never under 2,000 characters because little is replaced', async () => {
    const { service, stub } = await startWithModel({ content: 'z'.repeat(2_000) });
    const id = await service.session(turns(4, 10));
    expect((await service.compact(id)).body.session.compact_summary?.length).toBe(2_000);
    expect(stub.prompts.length).toBe(1);
  });
});
