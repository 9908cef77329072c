import { describe, expect, it } from 'vitest';
import type { ChatMessage } from '../../src/compaction/measure.js';
import { assistant, system, turns, user } from '../support/messages.js';
import { sessionOf, startWithModel, stateOf, summaryOf } from './expected.js';

const image: ChatMessage = {
  role: 'user',
  content: [{ type: 'image_url', image_url: { url: 'data:image/png;base64,iVBORw0KGgo=' } }],
};

describe('a compaction with nothing to fold', () => {
  it.each<[string, readonly ChatMessage[], string]>([
    ['no messages', [], 'nothing_new'],
    ['system messages only', [system(500), { role: 'developer', content: 'Be brief.' }], 'nothing_new'],
    ['a share of less than one char', [user(1)], 'nothing_new'],
    ['messages without text', [user(''), { role: 'assistant', content: null }, image], 'empty_text'],
  ])('asks no model and changes nothing: %s', async (_name, messages, reason) => {
    const { service, stub } = await startWithModel();
    const id = await service.session(messages);
    const before = await stateOf(service, id);

    const { status, body } = await service.compact(id);

    expect(status).toBe(200);
    expect(body).toEqual({
      sessionId: id,
      compactedCount: 0,
      newSize: 0,
      alreadyUpToDate: true,
      reason,
      lastCompactedAt: null,
      session: before.session,
    });
    expect(stub.prompts).toEqual([]);
    expect(await stateOf(service, id)).toEqual(before);
  });

  it('asks no model and changes nothing: all messages folded before', async () => {
    const { service, stub } = await startWithModel();
    const id = await service.session(turns(4, 100));
    service.sql('UPDATE sessions SET compact_summary = ?, compact_size = ? WHERE id = ?', 'OLD', 4, id);
    const before = await stateOf(service, id);

    const { status, body } = await service.compact(id);

    expect({ ...body, status }).toMatchObject({
      status: 200,
      compactedCount: 0,
      newSize: 4,
      alreadyUpToDate: true,
      reason: 'nothing_new',
    });
    expect(stub.prompts).toEqual([]);
    expect(before.session).toMatchObject({ compact_summary: 'OLD', compact_size: 4 });
    expect(await stateOf(service, id)).toEqual(before);
  });

  it('asks no model when what is open besides the summary has no text', async () => {
    const { service, stub } = await startWithModel();
    const id = await service.session([...turns(4, 100), image, assistant('')]);
    service.sql('UPDATE sessions SET compact_summary = ?, compact_size = ? WHERE id = ?', 'OLD', 4, id);

    expect((await service.compact(id)).body).toMatchObject({
      compactedCount: 0,
      newSize: 4,
      reason: 'empty_text',
    });
    expect(stub.prompts).toEqual([]);
    expect(await sessionOf(service, id)).toMatchObject({ compact_summary: 'OLD', compact_size: 4 });
  });

  it('is not what a pointer without a summary means: everything is open then', async () => {
    const { service, stub } = await startWithModel();
    const messages = turns(4, 100);
    const id = await service.session(messages);
    service.sql('UPDATE sessions SET compact_size = 4 WHERE id = ?', id);

    expect((await service.compact(id)).body).toMatchObject({ compactedCount: 2, newSize: 2 });
    expect(stub.prompts).toHaveLength(1);
    expect(await service.view(id)).toEqual([summaryOf('S1'), expect.anything(), ...messages.slice(2)]);
  });

  it('says when the last compaction was', async () => {
    const { service } = await startWithModel();
    const id = await service.session(turns(2, 100), { compactCount: 99 });
    const { finished_at } = (await service.compact(id)).body.compaction;

    expect(finished_at).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
    expect((await service.compact(id)).body.lastCompactedAt).toBe(finished_at);
  });
});
