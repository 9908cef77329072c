import { describe, expect, it } from 'vitest';
import { turns } from '../support/messages.js';
import { type StubReply, startModelStub } from '../support/model-stub.js';
import { modelAt, startService } from '../support/service.js';

const DOWN: StubReply = { status: 503, body: { error: { message: 'down' } } };

async function start(compact: StubReply, main: StubReply, variables: Record<string, string>) {
  const compactStub = await startModelStub(() => compact);
  const mainStub = await startModelStub(() => main);
  const service = await startService(
    modelAt(mainStub.url, {
      MAIN_MODEL: 'main-1',
      MAIN_RETRIES: '0',
      COMPACT_MODEL: 'compact-1',
      COMPACT_BASE_URL: compactStub.url,
      ...variables,
    }),
  );
  const id = await service.session(turns(10, 100));
  return { service, id, asked: () => [compactStub.prompts.length, mainStub.prompts.length] };
}

describe('when the endpoint for summaries fails', () => {
  it('no other model is tried unless that is configured', async () => {
    const { service, id, asked } = await start(DOWN, { content: 'M' }, {});
    const answer = await service.compact(id);
    expect([answer.status, answer.body.code, asked()]).toEqual([502, 'MODEL_UNAVAILABLE', [1, 0]]);
    expect(answer.body.detail).toContain('compact-1');
  });

  it('main writes the summary where it is, and the record says so and counts both', async () => {
    const { service, id, asked } = await start(DOWN, { content: 'M' }, { COMPACT_FALLBACK: 'main' });
    const { body } = await service.compact(id);
    expect(asked()).toEqual([1, 1]);
    expect(body.compaction).toMatchObject({
      model: 'main-1',
      requests: 2,
      summary: 'M',
      usage: { input_tokens: 100, output_tokens: 10 },
    });
    expect((await service.call('GET', `/sessions/${id}/compactions`)).body.data[0]).toEqual(body.compaction);
  });

  it('the error is that of main when main fails too', async () => {
    const { service, id, asked } = await start(
      DOWN,
      { status: 401, body: '{}' },
      { COMPACT_FALLBACK: 'main' },
    );
    const answer = await service.compact(id);
    expect([answer.status, answer.body.code, asked()]).toEqual([502, 'MODEL_AUTH', [1, 1]]);
    expect(answer.body.detail).toContain('main-1');
  });

  it('main is not asked for what is wrong with the request, nor in place of a model that the call names', async () => {
    const refused: StubReply = { status: 400, body: { error: { message: 'no such thing' } } };
    const one = await start(refused, { content: 'M' }, { COMPACT_FALLBACK: 'main' });
    expect([(await one.service.compact(one.id)).body.code, one.asked()]).toEqual(['MODEL_REJECTED', [1, 0]]);
    const two = await start(DOWN, { content: 'M' }, { COMPACT_FALLBACK: 'main' });
    const answer = await two.service.compact(two.id, { model: 'other' });
    expect([answer.body.code, two.asked()]).toEqual(['MODEL_UNAVAILABLE', [1, 0]]);
  });
});
