const FIRST_WAIT_MS = 500;
const LONGEST_WAIT_MS = 10_000;

/**
 * The waits of one call for a server that is loading its model, which takes seconds to minutes. They have a budget
 * of their own: the server is well and will answer, so that the retries meant for failures are not used up.
 */
export class LoadingWait {
  #leftMs: number;
  #waits = 0;

  /** @param budgetMs longest time to wait in one call, over all waits; the requests' own time does not count */
  constructor(budgetMs: number) {
    this.#leftMs = budgetMs;
  }

  /**
   * The next wait, in ms; null when there must be none. Doubles from half a second up to 10 s, shortened by up to
   * a half at random so that clients do not ask in step; the last one is what is left of the budget. A hint of the
   * server's counts instead: it is waited for in full or, where the budget does not allow that, not at all.
   */
  next(hintMs: number | null, random: () => number): number | null {
    if (this.#leftMs <= 0) return null;
    const step = Math.min(FIRST_WAIT_MS * 2 ** this.#waits, LONGEST_WAIT_MS);
    this.#waits += 1;
    let wait = Math.min(Math.ceil(step / 2 + (random() * step) / 2), this.#leftMs);
    if (hintMs !== null && hintMs > 0) {
      if (hintMs > this.#leftMs) return null;
      wait = hintMs;
    }
    this.#leftMs -= wait;
    return wait;
  }
}
