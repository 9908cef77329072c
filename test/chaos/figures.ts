/** Counts and durations of a run. */
export class Figures {
  readonly #counts = new Map<string, Map<string, number>>();
  readonly #durations = new Map<string, number[]>();

  /** One more of a kind in a group, such as `201` of `append`. */
  count(group: string, kind: string, by = 1): void {
    const kinds = this.#counts.get(group) ?? new Map<string, number>();
    this.#counts.set(group, kinds.set(kind, (kinds.get(kind) ?? 0) + by));
  }

  took(group: string, ms: number): void {
    const all = this.#durations.get(group) ?? [];
    this.#durations.set(group, all);
    all.push(ms);
  }

  of(group: string, kind: string): number {
    return this.#counts.get(group)?.get(kind) ?? 0;
  }

  total(group: string): number {
    return [...(this.#counts.get(group)?.values() ?? [])].reduce((sum, count) => sum + count, 0);
  }

  /** A line for each group: its counts by kind, and where times were taken the median and the longest, in ms. */
  lines(): string[] {
    return [...this.#counts]
      .sort(([a], [b]) => a.localeCompare(b))
      .map(([group, kinds]) => {
        const counts = [...kinds]
          .sort(([a], [b]) => a.localeCompare(b))
          .map(([kind, count]) => `${kind} ${count}`);
        const times = (this.#durations.get(group) ?? []).sort((a, b) => a - b);
        const median = times[Math.floor(times.length / 2)];
        const spread =
          median === undefined
            ? ''
            : ` (median ${Math.round(median)} ms, longest ${Math.round(times.at(-1) ?? 0)} ms)`;
        return `${group.padEnd(14)} ${counts.join(', ')}${spread}`;
      });
  }
}
