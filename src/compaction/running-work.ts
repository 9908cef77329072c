import { AppError } from '../errors.js';

/** Work that a shutdown must wait for, and can stop: each piece has an AbortController of its own. */
export class RunningWork {
  readonly #running = new Map<AbortController, Promise<unknown>>();
  #closed = false;

  /** Starts work that also ends when `caller` fires. SHUTTING_DOWN once closed. */
  async run<T>(caller: AbortSignal, work: (controller: AbortController) => Promise<T>): Promise<T> {
    if (this.#closed) throw shuttingDown();
    const controller = new AbortController();
    const leave = () => controller.abort(caller.reason);
    if (caller.aborted) leave();
    caller.addEventListener('abort', leave, { once: true });
    const running = work(controller);
    this.#running.set(controller, running);
    try {
      return await running;
    } finally {
      this.#running.delete(controller);
      caller.removeEventListener('abort', leave);
    }
  }

  /**
   * Refuses new work, lets what is at work end for a while, then stops it; resolves when all has ended.
   *
   * @param graceMs how long it may go on, in ms
   */
  async close(graceMs: number): Promise<void> {
    this.#closed = true;
    const stop = setTimeout(() => {
      for (const controller of this.#running.keys()) controller.abort(shuttingDown());
    }, graceMs);
    await Promise.allSettled(this.#running.values());
    clearTimeout(stop);
  }
}

function shuttingDown(): AppError {
  return new AppError('SHUTTING_DOWN', 'The service is shutting down', { retryAfterSeconds: 1 });
}
