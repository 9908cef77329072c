/** Runs tasks side by side, a few at a time. The first error ends it: `add` and `drain` throw it. */
export class TaskPool {
  readonly #limit: number;
  readonly #running = new Set<Promise<void>>();
  #failure: { readonly error: unknown } | null = null;

  constructor(limit: number) {
    this.#limit = limit;
  }

  /** Starts a task as soon as there is room: awaiting it is the backpressure for whoever makes the tasks. */
  async add(task: () => Promise<void>): Promise<void> {
    while (this.#running.size >= this.#limit) await Promise.race(this.#running);
    this.#throwFailure();
    const run = task()
      .catch((error: unknown) => {
        this.#failure ??= { error };
      })
      .finally(() => this.#running.delete(run));
    this.#running.add(run);
  }

  /** Waits for the tasks that were started. */
  async drain(): Promise<void> {
    await Promise.all(this.#running);
    this.#throwFailure();
  }

  #throwFailure(): void {
    if (this.#failure !== null) throw this.#failure.error;
  }
}
