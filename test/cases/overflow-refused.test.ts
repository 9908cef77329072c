import { describe, expect, it } from 'vitest';
import { text, turns, user } from '../support/messages.js';
import { OVERFLOW, type StubScript } from '../support/model-stub.js';
import {
  compactedSession,
  expectUnharmed,
  lastCompaction,
  startWithModel,
  stateOf,
} from './session-state.js';

describe('an endpoint that refuses every prompt as too long', () => {
  it.each([
    { name: 'a batch of many messages', messages: turns(40, 1_000), percent: 99 },
    { name: 'one giant message', messages: [user(text(50_000))], percent: 99 },
    { name: 'a few short messages', messages: turns(4, 20), percent: 50 },
    { name: 'a giant message of emoji', messages: [user('🛳'.repeat(20_000))], percent: 99 },
  ])('gets ever smaller requests, few of them, and then a clear error ends it: $name', async (given) => {
    const harness = await startWithModel(OVERFLOW, { COMPACT_RETRIES: '2' });
    const { service, stub } = harness;
    const id = await service.session(given.messages);
    const before = stateOf(service, id);

    const { status, body } = await service.compact(id, { compactCount: given.percent });

    expect({ status, code: body.code, retryable: body.retryable }).toEqual({
      status: 502,
      code: 'CONTEXT_OVERFLOW',
      retryable: false,
    });
    expect(body.detail).toContain('configure a model with a larger window');
    const sizes = stub.server.requests.map((request) => Buffer.byteLength(request.body));
    expect(sizes.length).toBeLessThanOrEqual(8);
    expect(sizes).toEqual([...new Set(sizes)].sort((a, b) => b - a));
    expect(await lastCompaction(service, id)).toMatchObject({
      outcome: 'failed',
      error_code: 'CONTEXT_OVERFLOW',
      requests: sizes.length,
      usage: { input_tokens: null, output_tokens: null },
    });
    await expectUnharmed(harness, id, before);
  });

  it('leaves an earlier summary as it was', async () => {
    const harness = await startWithModel(OVERFLOW);
    const { service } = harness;
    const id = await compactedSession(service, turns(12, 1_000), { summary: 'S0', size: 2 });
    const before = stateOf(service, id);
    expect((await service.compact(id)).body.code).toBe('CONTEXT_OVERFLOW');
    await expectUnharmed(harness, id, before);
  });
});

describe('the output cap', () => {
  /** A model with an output limit of 4,096 tokens. */
  const limited: StubScript = (_prompt, index) => {
    const asked = Number(seen[index]?.['max_tokens'] ?? 0);
    if (asked <= 4_096) return { content: 'S1' };
    const message = `max_tokens is too large: ${asked}. This model supports at most 4096 completion tokens`;
    return { status: 400, body: { error: { message, type: 'invalid_request_error', param: 'max_tokens' } } };
  };
  let seen: readonly Record<string, unknown>[] = [];

  it.each([
    { name: 'nothing is configured', variables: {} },
    { name: 'a window is configured', variables: { COMPACT_WINDOW_TOKENS: '128000' } },
    { name: 'the window of the chat model is configured', variables: { MAIN_WINDOW_TOKENS: '200000' } },
  ])('is not in the request when $name', async ({ variables }) => {
    const { service, stub } = await startWithModel(limited, variables);
    seen = stub.bodies;
    const id = await service.session(turns(40, 1_000));
    expect((await service.compact(id)).status).toBe(200);
    expect(stub.bodies.length).toBe(1);
    expect(Object.keys(stub.bodies[0] ?? {}).filter((key) => key.startsWith('max_'))).toEqual([]);
  });

  it('goes out as it is configured', async () => {
    const { service, stub } = await startWithModel(limited, { COMPACT_MAX_OUTPUT_TOKENS: '4096' });
    seen = stub.bodies;
    const id = await service.session(turns(40, 1_000));
    expect((await service.compact(id)).status).toBe(200);
    expect(stub.bodies.map(({ max_tokens }) => max_tokens)).toEqual([4_096]);
  });

  it('goes under the other name to a model that knows only that one', async () => {
    const { service, stub } = await startWithModel(
      (_prompt, index) =>
        'max_tokens' in (stub.bodies[index] ?? {})
          ? {
              status: 400,
              body: {
                error: {
                  message:
                    "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.",
                  type: 'invalid_request_error',
                  param: 'max_tokens',
                  code: 'unsupported_parameter',
                },
              },
            }
          : { content: 'S1' },
      { COMPACT_MAX_OUTPUT_TOKENS: '4096' },
    );
    const id = await service.session(turns(4, 100));
    expect((await service.compact(id)).status).toBe(200);
    expect(stub.bodies.at(-1)).toMatchObject({ max_completion_tokens: 4_096 });
    expect(stub.bodies.at(-1)).not.toHaveProperty('max_tokens');
    expect(stub.bodies.length).toBeLessThanOrEqual(2);
  });
});
