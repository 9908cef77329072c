import { describe, expect, it } from 'vitest';
import { text, turns, user } from '../support/messages.js';
import { ACKNOWLEDGED, sessionOf, startWithModel, stateOf, summaryOf } from './expected.js';

describe('a summary longer than what it replaces', () => {
  it('is asked for once more, then refused, and the session stands as before', async () => {
    const { service, stub } = await startWithModel(() => ({ content: 'x'.repeat(5_000) }));
    const id = await service.session(turns(6, 20), { compactCount: 50 });
    const before = await stateOf(service, id);

    const { status, body } = await service.compact(id);

    expect({ status, code: body.code, compaction: body.compaction }).toEqual({
      status: 502,
      code: 'SUMMARY_TOO_LONG',
      compaction: { id: expect.stringMatching(/^cmp_/), from_size: 0, to_size: 0, outcome: 'failed' },
    });
    expect(stub.prompts).toHaveLength(2);
    const after = await stateOf(service, id);
    expect({ ...after, compactions: null }).toEqual({ ...before, compactions: null });
    expect(after.session).toMatchObject({ compact_summary: null, compact_size: 0 });
    expect(after.compactions.data).toMatchObject([
      { error_code: 'SUMMARY_TOO_LONG', summary: null, chars_before: 120, chars_after: 120, requests: 2 },
    ]);
  });

  it('gives way to a shorter one when asked', async () => {
    const replies = ['x'.repeat(2_001), 'short'];
    const { service, stub } = await startWithModel((_prompt, index) => ({ content: replies[index] ?? '' }));
    const id = await service.session(turns(6, 20), { compactCount: 50 });

    const { body } = await service.compact(id);

    expect(body.compaction).toMatchObject({
      chars_before: 120,
      chars_after: 65,
      requests: 2,
      usage: { input_tokens: 200, output_tokens: 20 },
    });
    expect(stub.prompts[0]).not.toContain('2001');
    expect(stub.prompts[1]).toContain('Your last summary had 2001 characters, which is too long.');
    expect(await service.view(id)).toEqual([summaryOf('short'), ...turns(6, 20).slice(3)]);
  });

  it('is welcome in a small session, up to 2,000 chars', async () => {
    const { service } = await startWithModel(() => ({ content: text(2_000) }));
    const id = await service.session(turns(6, 20), { compactCount: 60 });

    const { body } = await service.compact(id);

    expect(body.compaction).toMatchObject({ chars_before: 120, chars_after: 2_040, requests: 1 });
    expect(await service.view(id)).toEqual([summaryOf(text(2_000)), ACKNOWLEDGED, ...turns(6, 20).slice(4)]);
  });

  it.each([
    [3_000, 200, 1],
    [3_001, 502, 2],
  ])('is measured against the folded chars: %i chars for 3,000', async (chars, status, requests) => {
    const { service, stub } = await startWithModel(() => ({ content: text(chars) }));
    const id = await service.session([user(3_000), user(3_000)], { compactCount: 50 });

    expect((await service.compact(id)).status).toBe(status);
    expect(stub.prompts).toHaveLength(requests);
  });

  it.each([
    [4_000, 200],
    [4_001, 502],
  ])('is measured against the summary before it too: %i chars for 2,500 and 1,500', async (chars, status) => {
    const { service } = await startWithModel(() => ({ content: text(chars) }));
    const id = await service.session([user(9_000), user(1_500), user(1_500)]);
    const before = text(2_500, 'before ');
    service.sql('UPDATE sessions SET compact_summary = ?, compact_size = 1 WHERE id = ?', before, id);

    expect((await service.compact(id, { compactCount: 20 })).status).toBe(status);
    expect(await sessionOf(service, id)).toMatchObject(
      status === 200
        ? { compact_summary: text(4_000), compact_size: 2 }
        : { compact_summary: before, compact_size: 1 },
    );
  });
});
