/** What refusals have taught about one model, in tokens. */
interface Lesson {
  /** The smallest size that is known not to fit. */
  readonly refused: number;
  /** The largest size below it that was accepted after the refusal; null as long as none was. */
  readonly accepted: number | null;
}

/**
 * A size is only evidence of the window when it is close to what was refused: a short call that passes meanwhile
 * says nothing. The first try after a refusal without numbers is a quarter of it.
 */
const SMALLEST_EVIDENCE = 1 / 5;

/**
 * Windows learned from overflow errors, per model. What an error says is not believed alone (gateways report limits
 * that are none of the model's): a window is a size that passed after a larger one was refused.
 */
export class LearnedWindows {
  readonly #lessons = new Map<string, Lesson>();
  readonly #maxModels: number;

  /** @param maxModels models remembered; callers may name any, and the longest unused one is forgotten */
  constructor(maxModels: number) {
    this.#maxModels = maxModels;
  }

  windowOf(model: string): number | null {
    return this.#lessons.get(model)?.accepted ?? null;
  }

  /** A request of this size was answered. */
  accepted(model: string, tokens: number): void {
    const lesson = this.#lessons.get(model);
    if (lesson === undefined || !(tokens > 0)) return;
    if (tokens >= lesson.refused) {
      // The model was loaded anew, or the sizes are not comparable: what was learned no longer holds.
      this.#lessons.delete(model);
    } else if (tokens >= lesson.refused * SMALLEST_EVIDENCE && tokens > (lesson.accepted ?? 0)) {
      this.#remember(model, { ...lesson, accepted: Math.floor(tokens) });
    }
  }

  /** A request was refused as too large; `windowTokens` is the window that the refusal named. */
  refused(model: string, requestedTokens: number, windowTokens: number | null): void {
    const beyond = windowTokens === null || windowTokens <= 0 ? Number.POSITIVE_INFINITY : windowTokens + 1;
    const size = Math.min(requestedTokens, beyond);
    if (!(size > 0) || !Number.isFinite(size)) return;
    const known = this.#lessons.get(model);
    const accepted = known === undefined || (known.accepted ?? 0) >= size ? null : known.accepted;
    this.#remember(model, { refused: Math.min(size, known?.refused ?? size), accepted });
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
