/** The value below which `share` (0 to 1) of the samples lie. Throws on an empty list. */
export function percentile(samples: readonly number[], share: number): number {
  const sorted = samples.toSorted((a, b) => a - b);
  const value = sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))];
  if (value === undefined) throw new RangeError('there are no samples');
  return value;
}

export function median(samples: readonly number[]): number {
  return percentile(samples, 0.5);
}

/** How long `work` took, in ms. */
export async function timed(work: () => Promise<unknown>): Promise<number> {
  const started = performance.now();
  await work();
  return performance.now() - started;
}

/** Median time of one call out of `count`, in ms. */
export async function medianTime(count: number, work: () => Promise<unknown>): Promise<number> {
  const samples: number[] = [];
  for (let i = 0; i < count; i += 1) samples.push(await timed(work));
  return median(samples);
}

/**
 * Runs every case once per round, in turn, so that whatever else the machine does hits all of them alike.
 * Gives each case the median of its samples, in the unit that the cases return.
 */
export async function interleaved<Name extends string>(
  rounds: number,
  cases: Readonly<Record<Name, () => Promise<number>>>,
): Promise<Record<Name, number>> {
  const names = Object.keys(cases) as Name[];
  const samples = new Map<Name, number[]>(names.map((name) => [name, []]));
  for (let round = 0; round < rounds; round += 1) {
    for (const name of names) samples.get(name)?.push(await cases[name]());
  }
  return Object.fromEntries(names.map((name) => [name, median(samples.get(name) ?? [])])) as Record<
    Name,
    number
  >;
}
