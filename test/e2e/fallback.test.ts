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

describe('the fallback has limits of its own', () => {
  const REFUSED: StubReply = { status: 401, body: { error: { message: 'no' } } };
  const tokens = (prompt: string) => Math.ceil(Buffer.byteLength(prompt) / 3);

  /** Compact always fails; main takes prompts up to a size by our estimate, and says so in its refusals. */
  async function startMain(windowTokens: number, variables: Record<string, string>) {
    const compact = await startModelStub(() => REFUSED);
    const main = await startModelStub((prompt) => {
      const size = tokens(prompt);
      if (size <= windowTokens) return { content: 'M' };
      const message = `maximum context length is ${windowTokens} tokens. However, you requested ${size} tokens`;
      return { status: 400, body: { error: { message } } };
    });
    const service = await startService(
      modelAt(main.url, {
        MAIN_MODEL: 'main-1',
        COMPACT_MODEL: 'compact-1',
        COMPACT_BASE_URL: compact.url,
        COMPACT_FALLBACK: 'main',
        ...variables,
      }),
    );
    const compacted = async () => {
      const [asked, before] = [compact.prompts.length, main.prompts.length];
      const id = await service.session(turns(40, 3_000));
      const { status, body } = await service.compact(id, { compactCount: 50 });
      const sizes = main.prompts.slice(before).map(tokens);
      return { status, body, asked: compact.prompts.length - asked, sizes };
    };
    return { compacted, main };
  }

  it.each([
    { MAIN_WINDOW_TOKENS: '8000', COMPACT_WINDOW_TOKENS: '100000' },
    { MAIN_WINDOW_TOKENS: '100000', COMPACT_WINDOW_TOKENS: '8000' },
  ])('as configured: %j', async (variables) => {
    const { compacted } = await startMain(8_000, variables);
    const { status, body, asked, sizes } = await compacted();
    expect([status, asked, body.compaction.model]).toEqual([200, 1, 'main-1']);
    expect(body.compaction.requests).toBe(1 + sizes.length);
    expect(sizes.length).toBeGreaterThan(3);
    expect(Math.max(...sizes)).toBeLessThanOrEqual(8_000);
  });

  it('as learned: only the first compaction meets an overflow', async () => {
    const { compacted } = await startMain(8_000, { WINDOW_DISCOVERY: 'on' });
    const refused: number[] = [];
    for (let i = 0; i < 3; i += 1) {
      const { status, asked, sizes } = await compacted();
      expect([status, asked]).toEqual([200, 1]);
      refused.push(sizes.filter((size) => size > 8_000).length);
    }
    expect(refused).toEqual([1, 0, 0]);
  });

  it('and a cap of its own, which a second try raises without asking the first endpoint again', async () => {
    const compact = await startModelStub(() => DOWN);
    const main = await startModelStub(() => ({ content: 'cut', finish: 'length' }));
    const service = await startService(
      modelAt(main.url, {
        MAIN_MODEL: 'main-1',
        MAIN_MAX_OUTPUT_TOKENS: '100',
        COMPACT_MODEL: 'compact-1',
        COMPACT_MAX_OUTPUT_TOKENS: '50',
        COMPACT_BASE_URL: compact.url,
        COMPACT_FALLBACK: 'main',
      }),
    );
    const { body } = await service.compact(await service.session(turns(10, 100)));
    expect(body.code).toBe('SUMMARY_TRUNCATED');
    const caps = (bodies: typeof main.bodies) => bodies.map((sent) => sent['max_tokens']);
    expect([caps(compact.bodies), caps(main.bodies)]).toEqual([[50], [100, 200]]);
  });
});
