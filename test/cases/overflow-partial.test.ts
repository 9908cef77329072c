import { describe, expect, it } from 'vitest';
import { calls, result, text, turns, user } from '../support/messages.js';
import type { StubReply } from '../support/model-stub.js';
import { lastCompaction, quotedIn, startWithModel } from './session-state.js';

const CHUNKED = { SUMMARY_CHUNK_CHARS: '1000', COMPACT_FIRST_BYTE_TIMEOUT_MS: '600' };

/** Why the third of three chunks fails, and with which code. */
const failures: readonly { name: string; reply: StubReply; status: number; code: string }[] = [
  { name: 'times out', reply: { hang: true }, status: 504, code: 'MODEL_TIMEOUT' },
  { name: 'is unavailable', reply: { status: 503, body: {} }, status: 502, code: 'MODEL_UNAVAILABLE' },
  { name: 'is refused', reply: { status: 401, body: {} }, status: 502, code: 'MODEL_AUTH' },
  { name: 'comes back empty', reply: { content: '' }, status: 500, code: 'EMPTY_SUMMARY' },
  { name: 'is cut', reply: { content: 'S', finish: 'length' }, status: 502, code: 'SUMMARY_TRUNCATED' },
];

describe('when the third chunk of three fails', () => {
  it.each(failures)(
    'the first two stand, and the next call sends only the third: it $name',
    async (failure) => {
      const { service, stub, answerWith } = await startWithModel(
        (_prompt, index) => (index < 2 ? { content: `S${index}` } : failure.reply),
        CHUNKED,
      );
      const talk = turns(6, 450);
      const id = await service.session(talk);

      const failed = await service.compact(id, { compactCount: 99 });

      expect({ status: failed.status, code: failed.body.code }).toEqual({
        status: failure.status,
        code: failure.code,
      });
      expect(stub.prompts.length).toBe(3);
      const record = await lastCompaction(service, id);
      expect(record).toMatchObject({
        outcome: 'partial',
        error_code: failure.code,
        from_size: 0,
        to_size: 4,
        summary: 'S1',
        requests: 3,
      });
      expect(failed.body.compaction).toEqual({ id: record.id, from_size: 0, to_size: 4, outcome: 'partial' });
      expect((await service.call('GET', `/sessions/${id}`)).body).toMatchObject({
        compact_summary: 'S1',
        compact_size: 4,
        message_count: 6,
      });

      answerWith({ content: 'S2' });
      const { status, body } = await service.compact(id, { compactCount: 99 });
      expect(status).toBe(200);
      expect(body).toMatchObject({ compactedCount: 2, newSize: 6 });
      expect(body.session.compact_summary).toBe('S2');
      expect(body.compaction.predecessor_id).toBe(record.id);
      expect(stub.prompts.length).toBe(4);
      const last = stub.prompts[3] ?? '';
      expect(quotedIn(last, 'summary')).toBe('S1');
      expect(quotedIn(last, 'transcript')).toBe(
        `[user]\n${talk[4]?.content}\n\n[assistant]\n${talk[5]?.content}`,
      );
      expect(await service.messages(id)).toEqual(talk);
    },
  );
});

describe('when a chunk inside a tool group fails', () => {
  it('nothing of the group is covered by the summary', async () => {
    const { service, answerWith } = await startWithModel(
      (_prompt, index) => (index < 3 ? { content: `S${index}` } : { status: 500, body: {} }),
      { SUMMARY_CHUNK_CHARS: '1000' },
    );
    const id = await service.session([
      user(text(500)),
      user(text(450)),
      calls(['c1', 'c2', 'c3']),
      result('c1', text(900)),
      result('c2', text(900)),
      result('c3', text(900)),
      user(text(100)),
    ]);

    const { status, body } = await service.compact(id, { compactCount: 90 });

    expect(status).toBe(502);
    expect(body.compaction).toMatchObject({ from_size: 0, to_size: 2, outcome: 'partial' });
    const { body: session } = await service.call('GET', `/sessions/${id}`);
    expect(session).toMatchObject({ compact_summary: 'S0', compact_size: 2 });
    const roles = (await service.view(id)).map(({ role }) => role);
    expect(roles).toEqual(['user', 'assistant', 'assistant', 'tool', 'tool', 'tool', 'user']);

    answerWith({ content: 'all' });
    expect((await service.compact(id, { compactCount: 90 })).body).toMatchObject({
      compactedCount: 4,
      newSize: 6,
    });
  });
});

describe('a batch of more than 200 calls', () => {
  it('is folded up to the last safe cut within them, and the next call goes on from there', async () => {
    const { service, stub } = await startWithModel((_prompt, index) => ({ content: `S${index}` }), {
      SUMMARY_CHUNK_CHARS: '1000',
    });
    const id = await service.session(turns(420, 450), { compactCount: 99 });

    const first = await service.compact(id);

    expect(first.status).toBe(200);
    expect(first.body).toMatchObject({ compactedCount: 400, newSize: 400, alreadyUpToDate: false });
    expect(first.body.compaction).toMatchObject({ outcome: 'completed', to_size: 400, requests: 200 });
    expect(stub.prompts.length).toBe(200);
    const second = await service.compact(id);
    expect(second.body).toMatchObject({ compactedCount: 20, newSize: 420 });
    expect(quotedIn(stub.prompts[200] ?? '', 'summary')).toBe('S199');
  });

  it('fails, and says so, when there is no safe cut within them', async () => {
    const { service, stub } = await startWithModel({ content: 'S' }, { SUMMARY_CHUNK_CHARS: '1000' });
    const id = await service.session([user(text(250_000)), user(text(10))], { compactCount: 99 });
    const { status, body } = await service.compact(id);
    expect({ status, code: body.code }).toEqual({ status: 502, code: 'SUMMARY_BUDGET_TOO_SMALL' });
    expect(stub.prompts.length).toBe(200);
    expect((await service.call('GET', `/sessions/${id}`)).body).toMatchObject({
      compact_summary: null,
      compact_size: 0,
    });
  });
});
