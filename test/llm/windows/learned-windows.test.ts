import { describe, expect, it } from 'vitest';
import { LearnedWindows } from '../../../src/llm/windows/learned-windows.js';

const NO_NUMBERS = { windowTokens: null, requestedTokens: null };
const told = (windowTokens: number, requestedTokens: number | null) => ({ windowTokens, requestedTokens });

const taught = (teach: (windows: LearnedWindows) => void): LearnedWindows => {
  const windows = new LearnedWindows(10);
  teach(windows);
  return windows;
};
const next = (windows: LearnedWindows, searching = false) => windows.promptSizes('m', searching).next;

describe('a learned window', () => {
  it('is a size that was accepted after a larger one was refused', () => {
    const windows = taught((all) => {
      all.refused('m', 10_000, NO_NUMBERS);
      all.accepted('m', 8_000.7);
    });
    expect([windows.windowOf('m'), next(windows)]).toEqual([8_000, 8_000]);
  });

  it.each<[string, (windows: LearnedWindows) => void]>([
    ['a refusal alone', (windows) => windows.refused('m', 10_000, told(8_192, 12_000))],
    ['an accepted size alone', (windows) => windows.accepted('m', 8_000)],
    [
      'a size that was accepted before the refusal',
      (windows) => {
        windows.accepted('m', 8_000);
        windows.refused('m', 10_000, NO_NUMBERS);
      },
    ],
    [
      'another model',
      (windows) => {
        windows.refused('other', 10_000, NO_NUMBERS);
        windows.accepted('other', 8_000);
      },
    ],
    [
      'a short call beside a refused long one',
      (windows) => {
        windows.refused('m', 10_000, NO_NUMBERS);
        windows.accepted('m', 1_999);
      },
    ],
    [
      'sizes that are none',
      (windows) => {
        windows.refused('m', Number.NaN, NO_NUMBERS);
        windows.refused('m', Number.POSITIVE_INFINITY, NO_NUMBERS);
        windows.refused('m', 0, told(100, null));
        windows.accepted('m', 50);
        windows.refused('m', 10_000, NO_NUMBERS);
        windows.accepted('m', Number.NaN);
        windows.accepted('m', -5);
      },
    ],
  ])('is not made by %s', (_name, teach) => {
    expect(taught(teach).windowOf('m')).toBeNull();
  });

  it('grows with what is accepted, and never shrinks by short calls', () => {
    const windows = taught((all) => all.refused('m', 10_000, NO_NUMBERS));
    const seen = [2_000, 6_000, 3_000, 9_999].map((tokens) => {
      windows.accepted('m', tokens);
      return windows.windowOf('m');
    });
    expect(seen).toEqual([2_000, 6_000, 6_000, 9_999]);
  });

  it('gives way to a larger size that was refused before and is accepted now', () => {
    const windows = taught((all) => {
      all.refused('m', 10_000, told(8_000, 10_000));
      all.accepted('m', 7_000);
      all.accepted('m', 12_000);
    });
    expect(windows.windowOf('m')).toBe(12_000);
    expect(windows.promptSizes('m', false)).toEqual({ next: 24_000, below: Number.POSITIVE_INFINITY });
  });

  it('ends with a refusal of its size or less, and is learned anew below that', () => {
    const windows = taught((all) => {
      all.refused('m', 10_000, NO_NUMBERS);
      all.accepted('m', 8_000);
      all.refused('m', 9_000, NO_NUMBERS);
    });
    expect(windows.windowOf('m')).toBe(8_000);
    windows.refused('m', 8_000, NO_NUMBERS);
    expect(windows.windowOf('m')).toBeNull();
    windows.accepted('m', 7_000);
    expect(windows.windowOf('m')).toBe(7_000);
  });

  it('is kept for a limited number of models', () => {
    const windows = new LearnedWindows(2);
    for (const model of ['a', 'b', 'c']) {
      windows.refused(model, 1_000, NO_NUMBERS);
      windows.accepted(model, 900);
    }
    expect(['a', 'b', 'c'].map((model) => windows.windowOf(model))).toEqual([null, 900, 900]);
  });
});

describe('the next prompt', () => {
  it('has no limit before anything was refused', () => {
    const windows = taught((all) => all.accepted('m', 5_000));
    expect(next(windows)).toBe(Number.POSITIVE_INFINITY);
  });

  it('is nine tenths of the window that a refusal named, brought to our unit by what it counted', () => {
    // By our estimate 10,000; by the endpoint's count 7,500, of which 2,048 fit.
    const windows = taught((all) => all.refused('m', 10_000, told(2_048, 7_500)));
    expect(windows.promptSizes('m', true)).toEqual({ next: 2_457, below: 2_731 });
    windows.accepted('m', 2_400);
    expect(windows.windowOf('m')).toBe(2_400);
    expect([next(windows, true), next(windows)]).toEqual([2_457, 2_457]);
  });

  it('starts with a window of unknown unit, which then bounds nothing', () => {
    const windows = taught((all) => all.refused('m', 10_000, told(2_048, null)));
    expect(windows.promptSizes('m', true)).toEqual({ next: 1_843, below: 10_000 });
    windows.accepted('m', 1_800);
    expect(next(windows)).toBe(3_600);
    expect(next(windows, true)).toBe(Math.floor(Math.sqrt(1_800 * 10_000)));
  });

  it('is one that shows a window that was named to be wrong', () => {
    const windows = taught((all) => {
      all.refused('m', 10_000, told(1_000, 10_000));
      all.accepted('m', 3_000);
    });
    expect(windows.promptSizes('m', false)).toEqual({ next: 5_477, below: 10_000 });
    const low = taught((all) => {
      all.refused('m', 10_000, told(8_000, 10_000));
      all.refused('m', 7_000, NO_NUMBERS);
    });
    expect(low.promptSizes('m', true)).toEqual({ next: 7_000, below: 7_000 });
  });

  it('is found by a search that ends', () => {
    const windows = taught((all) => all.refused('m', 100_000, NO_NUMBERS));
    windows.accepted('m', 25_000);
    const tried: number[] = [];
    for (let size = next(windows, true); size > (windows.windowOf('m') ?? 0); size = next(windows, true)) {
      tried.push(size);
      if (size <= 60_000) windows.accepted('m', size);
      else windows.refused('m', size, NO_NUMBERS);
    }
    expect(tried.length).toBeLessThanOrEqual(5);
    expect(next(windows)).toBeGreaterThan(60_000 / 1.15);
    expect(next(windows)).toBeLessThanOrEqual(60_000);
  });
});

describe('a refusal that was a mistake', () => {
  it('with a window below what is accepted then says nothing more', () => {
    const windows = taught((all) => all.refused('m', 19_000, told(50, 20_000)));
    windows.accepted('m', 400);
    expect(windows.promptSizes('m', false)).toEqual({ next: 19_000, below: 19_000 });
  });

  it('does not stop growth where a size was accepted beside a window that was named', () => {
    const windows = taught((all) => {
      all.refused('m', 20_000, told(1_000, null));
      all.accepted('m', 900);
      all.accepted('m', 2_000);
    });
    expect([windows.windowOf('m'), next(windows)]).toEqual([2_000, 4_000]);
  });

  it('names a window that paces 20 calls at most; after a true one the next refusal ends it', () => {
    const windows = taught((all) => all.refused('m', 20_000, told(2_000, 20_000)));
    const sizes = Array.from({ length: 21 }, () => {
      const size = next(windows);
      windows.accepted('m', Math.min(size, 1_700));
      return size;
    });
    expect(new Set(sizes.slice(0, 20))).toEqual(new Set([1_800]));
    expect(sizes[20]).toBe(3_400);
    windows.refused('m', 3_400, told(2_000, 3_400));
    for (let i = 0; i < 60; i += 1) windows.accepted('m', 1_800);
    expect([next(windows), windows.windowOf('m')]).toEqual([1_800, 1_800]);
  });

  it('is doubted after ten minutes, at the cost of one refusal where it was none', () => {
    let now = 0;
    const windows = new LearnedWindows(10, () => now);
    windows.refused('m', 10_000, NO_NUMBERS);
    windows.accepted('m', 9_000);
    expect(next(windows, true)).toBe(9_000);
    now = 10 * 60_000 - 1;
    expect(next(windows, true)).toBe(9_000);
    now += 1;
    expect(windows.promptSizes('m', false)).toEqual({ next: 18_000, below: Number.POSITIVE_INFINITY });
    windows.refused('m', 18_000, NO_NUMBERS);
    expect(windows.promptSizes('m', true)).toEqual({ next: 9_000, below: 10_000 });
    now += 10 * 60_000;
    windows.accepted('m', 18_000);
    expect(next(windows)).toBe(36_000);
  });
});
