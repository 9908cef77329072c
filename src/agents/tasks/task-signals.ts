import type { TaskNews } from './task-news.js';

/** Tells those who follow a task, here and in other processes, that there is something new: they ask the store. */
export class TaskSignals {
  readonly #news: TaskNews;
  readonly #waiting = new Map<number, Set<() => void>>();

  constructor(news: TaskNews) {
    this.#news = news;
  }

  /** After what is new was committed. */
  nudge(taskPk: number): void {
    this.wake(taskPk);
    this.#news.changed(taskPk);
  }

  /** For those in this process only. */
  wake(taskPk: number): void {
    for (const wake of this.#waiting.get(taskPk) ?? []) wake();
  }

  /** Resolves when the task is nudged, after `ms`, or when the signal fires. */
  wait(taskPk: number, ms: number, signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const others = this.#waiting.get(taskPk) ?? new Set();
      this.#waiting.set(taskPk, others);
      const wake = () => {
        clearTimeout(timer);
        signal.removeEventListener('abort', wake);
        others.delete(wake);
        if (others.size === 0 && this.#waiting.get(taskPk) === others) this.#waiting.delete(taskPk);
        resolve();
      };
      const timer = setTimeout(wake, ms);
      others.add(wake);
      signal.addEventListener('abort', wake, { once: true });
      if (signal.aborted) wake();
    });
  }
}
