import {
  afterAnswer,
  afterRefusal,
  type Lesson,
  NOTHING_LEARNED,
  type PromptSizes,
  promptSizes,
} from './lesson.js';
import type { ToldSizes } from './told-window.js';

/**
 * Windows learned from overflow errors, per model. What an error says is not believed alone (gateways report limits
 * that are none of the model's): a window is a size that passed after a larger one was refused. Sizes are prompts by
 * our own estimate.
 */
export class LearnedWindows {
  readonly #lessons = new Map<string, Lesson>();
  readonly #maxModels: number;
  readonly #now: () => number;

  /**
   * @param maxModels models remembered; callers may name any, and the one that taught nothing longest is forgotten
   * @param now the time in ms, by which refusals grow old
   */
  constructor(maxModels: number, now: () => number = () => performance.now()) {
    this.#maxModels = maxModels;
    this.#now = now;
  }

  windowOf(model: string): number | null {
    return this.#lessons.get(model)?.accepted ?? null;
  }

  /** @param searching whether a refusal may be risked to find a larger size */
  promptSizes(model: string, searching: boolean): PromptSizes {
    const lesson = this.#lessons.get(model);
    return lesson === undefined ? NOTHING_LEARNED : promptSizes(lesson, searching, this.#now());
  }

  /** A request of this size was answered. */
  accepted(model: string, size: number): void {
    const known = this.#lessons.get(model);
    if (known !== undefined && isSize(size)) this.#remember(model, afterAnswer(known, Math.floor(size)));
  }

  /** A request of this size was refused as too large, with these numbers. */
  refused(model: string, size: number, told: ToldSizes): void {
    if (!isSize(size)) return;
    const known = this.#lessons.get(model);
    this.#remember(model, afterRefusal(known, Math.floor(size), told, this.#now()));
  }

  #remember(model: string, lesson: Lesson): void {
    this.#lessons.delete(model);
    this.#lessons.set(model, lesson);
    for (const oldest of this.#lessons.keys()) {
      if (this.#lessons.size <= this.#maxModels) break;
      this.#lessons.delete(oldest);
    }
  }
}

function isSize(size: number): boolean {
  return Number.isFinite(size) && size > 0;
}
