import type { News } from '../../db/store.js';

/** What a process does when another one tells it something of tasks. */
export interface TaskListener {
  /** A task has new events, or is in another state. */
  changed(taskPk: number): void;
  cancelled(taskPk: number): void;
  /** Something came into the queue. */
  queued(): void;
}

const QUEUED = 'queue';
const TEXT = /^task (changed|cancelled) (\d{1,15})$/;

/** Tasks in the news between the processes of one database; whoever listens looks by himself as well. */
export class TaskNews {
  readonly #news: News;

  constructor(news: News) {
    this.#news = news;
  }

  changed(taskPk: number): void {
    this.#news.publish(`task changed ${taskPk}`);
  }

  cancelled(taskPk: number): void {
    this.#news.publish(`task cancelled ${taskPk}`);
  }

  queued(): void {
    this.#news.publish(QUEUED);
  }

  /** Until the returned function is called. Words that are not known, of a newer release, are passed over. */
  listen(listener: TaskListener): () => void {
    return this.#news.subscribe((text) => {
      if (text === QUEUED) return listener.queued();
      const [, what, pk] = TEXT.exec(text) ?? [];
      if (what === 'changed') listener.changed(Number(pk));
      if (what === 'cancelled') listener.cancelled(Number(pk));
    });
  }
}
