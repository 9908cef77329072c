import { describe, expect, it } from 'vitest';
import { LearnedWindows } from '../../../src/llm/windows/learned-windows.js';

const learn = (teach: (windows: LearnedWindows) => void, maxModels = 10): number | null => {
  const windows = new LearnedWindows(maxModels);
  teach(windows);
  return windows.windowOf('m');
};

describe('a learned window', () => {
  it('is a size that was accepted after a larger one was refused', () => {
    expect(
      learn((windows) => {
        windows.refused('m', 10_000, null);
        windows.accepted('m', 8_000.7);
      }),
    ).toBe(8_000);
  });

  it.each<[string, (windows: LearnedWindows) => void]>([
    ['a refusal alone', (windows) => windows.refused('m', 10_000, 8_192)],
    ['an accepted size alone', (windows) => windows.accepted('m', 8_000)],
    [
      'a size that was accepted before the refusal',
      (windows) => {
        windows.accepted('m', 8_000);
        windows.refused('m', 10_000, null);
      },
    ],
    [
      'another model',
      (windows) => {
        windows.refused('other', 10_000, null);
        windows.accepted('other', 8_000);
      },
    ],
    [
      'a short call beside a refused long one',
      (windows) => {
        windows.refused('m', 10_000, null);
        windows.accepted('m', 1_999);
      },
    ],
    [
      'sizes that are none',
      (windows) => {
        windows.refused('m', Number.NaN, null);
        windows.refused('m', Number.POSITIVE_INFINITY, null);
        windows.refused('m', 0, 100);
        windows.accepted('m', 50);
        windows.refused('m', 10_000, null);
        windows.accepted('m', Number.NaN);
        windows.accepted('m', -5);
      },
    ],
  ])('is not made by %s', (_name, teach) => {
    expect(learn(teach)).toBeNull();
  });

  it('grows with what is accepted, up to what was refused, and never shrinks by short calls', () => {
    const windows = new LearnedWindows(10);
    windows.refused('m', 10_000, null);
    const seen = [2_000, 6_000, 3_000, 9_999].map((tokens) => {
      windows.accepted('m', tokens);
      return windows.windowOf('m');
    });
    expect(seen).toEqual([2_000, 6_000, 6_000, 9_999]);
  });

  it('may be the window that the refusal named, once as much was accepted', () => {
    expect(
      learn((windows) => {
        windows.refused('m', 100_000, 8_192);
        windows.accepted('m', 8_192);
      }),
    ).toBe(8_192);
  });

  it('ends with a refusal of its size or less, and is learned anew below that', () => {
    const windows = new LearnedWindows(10);
    windows.refused('m', 10_000, null);
    windows.accepted('m', 8_000);
    windows.refused('m', 9_000, null);
    expect(windows.windowOf('m')).toBe(8_000);
    windows.refused('m', 8_000, null);
    expect(windows.windowOf('m')).toBeNull();
    windows.accepted('m', 7_000);
    expect(windows.windowOf('m')).toBe(7_000);
    windows.refused('m', 20_000, 4_096);
    expect(windows.windowOf('m')).toBeNull();
  });

  it('is bounded by the smallest refusal, whatever was refused after it', () => {
    const windows = new LearnedWindows(10);
    windows.refused('m', 9_000, null);
    windows.refused('m', 20_000, null);
    windows.accepted('m', 8_000);
    windows.accepted('m', 9_500);
    expect(windows.windowOf('m')).toBeNull();
  });

  it('is forgotten when more than was refused is accepted: the model was loaded anew', () => {
    expect(
      learn((windows) => {
        windows.refused('m', 10_000, null);
        windows.accepted('m', 8_000);
        windows.accepted('m', 10_000);
      }),
    ).toBeNull();
  });

  it('is kept for a limited number of models', () => {
    const windows = new LearnedWindows(2);
    for (const model of ['a', 'b', 'c']) {
      windows.refused(model, 1_000, null);
      windows.accepted(model, 900);
    }
    expect(['a', 'b', 'c'].map((model) => windows.windowOf(model))).toEqual([null, 900, 900]);
  });
});
