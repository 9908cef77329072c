import { describe, expect, it } from 'vitest';
import { modelError } from '../../src/compaction/model-error.js';

const base = { message: 'no', status: 503 };

describe('the error of a failed model call', () => {
  it.each([
    [null, 1],
    [0, 1],
    [-5_000, 1],
    [Number.NaN, 1],
    [Number.NEGATIVE_INFINITY, 1],
    [1, 1],
    [1_001, 2],
    [90_000, 90],
    [86_400_000, 86_400],
    [86_400_001, 86_400],
    [1e28, 86_400],
    [Number.POSITIVE_INFINITY, 86_400],
  ])('passes a hint of %j ms on as %i s', (retryAfterMs, seconds) => {
    const limited = modelError({ ...base, kind: 'rate_limited', retryAfterMs }, 'm');
    expect([limited.code, limited.options.retryAfterSeconds]).toEqual(['MODEL_RATE_LIMITED', seconds]);
    const down = modelError({ ...base, kind: 'unavailable', retryAfterMs }, 'm');
    expect([down.code, down.options.retryAfterSeconds]).toEqual([
      'MODEL_UNAVAILABLE',
      retryAfterMs === null ? undefined : seconds,
    ]);
  });

  it.each([
    [302, 'MODEL_REJECTED'],
    [399, 'MODEL_REJECTED'],
    [200, 'MODEL_UNAVAILABLE'],
    [null, 'MODEL_UNAVAILABLE'],
  ])('tells an answer %j that is no chat completion as %s', (status, code) => {
    expect(modelError({ kind: 'protocol', message: 'no', status }, 'm').code).toBe(code);
  });
});
