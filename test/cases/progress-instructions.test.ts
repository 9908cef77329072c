import { describe, expect, it } from 'vitest';
import { text, turns } from '../support/messages.js';
import { quoted, startWithModel, stateOf } from './expected.js';

describe('instructions for one compaction', () => {
  it('go out with that request only, beside the prompt and the summary so far', async () => {
    const { service, stub } = await startWithModel();
    const id = await service.session(turns(20, 100), { compactCount: 30 });
    await service.compact(id);
    await service.compact(id, { instructions: 'keep order numbers' });
    await service.compact(id);

    expect(stub.prompts.map((prompt) => prompt.split('keep order numbers').length - 1)).toEqual([0, 1, 0]);
    expect(stub.prompts.map((prompt) => quoted(prompt, 'wishes'))).toEqual([
      null,
      'keep order numbers',
      null,
    ]);
    expect(quoted(stub.prompts[1], 'summary')).toBe('S1');
    expect(stub.prompts[1]).toContain('Copy identifiers, names, numbers');
    expect(stub.prompts[1]?.indexOf('keep order numbers')).toBeGreaterThan(
      stub.prompts[1]?.indexOf('</transcript-') ?? 0,
    );
    const { data } = (await service.call('GET', `/sessions/${id}/compactions`)).body;
    expect(data).toMatchObject([
      { instructions: null, to_size: 14 },
      { instructions: 'keep order numbers', to_size: 11 },
      { instructions: null, to_size: 6 },
    ]);
  });

  it('are none when empty, blank or null: the request is the same to the byte', async () => {
    const { service, stub } = await startWithModel(() => ({ content: 'S' }));
    const bodies: object[] = [{}, { instructions: '' }, { instructions: ' \n\t ' }, { instructions: null }];
    for (const body of bodies) {
      const id = await service.session(turns(10, 100));
      await service.compact(id);
      await service.compact(id, body);
    }
    const sent = stub.server.requests.map(({ body }) => body);
    expect(sent).toHaveLength(8);
    expect(new Set(sent.filter((_body, index) => index % 2 === 0)).size).toBe(1);
    expect(new Set(sent.filter((_body, index) => index % 2 === 1)).size).toBe(1);
  });

  it('are refused when too long, before any model call', async () => {
    const { service, stub } = await startWithModel();
    const id = await service.session(turns(10, 100));
    const before = await stateOf(service, id);

    for (const instructions of [text(20_000), text(4_001), 'a\u0000b', 7, ['keep']]) {
      const { status, body } = await service.compact(id, { instructions });
      expect({ status, code: body.code, pointer: body.errors[0]?.pointer }).toEqual({
        status: 400,
        code: 'VALIDATION_FAILED',
        pointer: '/instructions',
      });
    }
    expect(stub.prompts).toEqual([]);
    expect(await stateOf(service, id)).toEqual(before);
  });

  it('may be as long as the limit says', async () => {
    const { service, stub } = await startWithModel();
    const id = await service.session(turns(10, 100));
    const instructions = text(4_000).trim();

    expect((await service.compact(id, { instructions })).status).toBe(200);
    expect(quoted(stub.prompts[0], 'wishes')).toBe(instructions);
  });
});
