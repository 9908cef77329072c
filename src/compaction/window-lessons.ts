import type { CallResult, Outcome } from '../llm/outcome.js';
import type { PromptSizes } from '../llm/windows/lesson.js';
import type { ToldSizes } from '../llm/windows/told-window.js';
import type { WindowFinder } from '../llm/windows/window-finder.js';
import { costOf } from './budget.js';

const CUT_REASONS: ReadonlySet<string> = new Set(['length', 'max_tokens', 'model_context_window_exceeded']);
/** Prompts above this share of what does not fit may have left too little room for the reply. */
const CROWDED_SHARE = 0.75;

/** What the calls of one compaction teach about the window of its model, and what was taught before. */
export class WindowLessons {
  readonly #windows: WindowFinder;
  readonly #model: string;
  /** Once a request was refused, this compaction finds out how much fits, so that the next one need not. */
  #searching = false;

  constructor(windows: WindowFinder, model: string) {
    this.#windows = windows;
    this.#model = model;
  }

  sizes(): PromptSizes {
    return this.#windows.promptSizes(this.#model, this.#searching);
  }

  /**
   * Takes in how a prompt fared. Sizes are our own estimate of the prompt: usage may count only what was not in a
   * cache, or be made up. An endpoint that refuses what is too long is not taken to cut the rest in silence.
   *
   * @param isCapped whether the request limited its reply
   * @returns the result; an overflow when a learned size was so large that the reply broke off for want of room
   */
  learn(prompt: string, isCapped: boolean, result: CallResult): CallResult {
    const size = costOf(prompt, 'tokens');
    const { outcome } = result;
    if (outcome.kind === 'overflow') {
      this.#refused(size, outcome);
    } else if (outcome.kind === 'ok' && !isCut(outcome)) {
      this.#windows.accepted(this.#model, size);
    } else if (outcome.kind === 'ok' && !isCapped && size > this.sizes().below * CROWDED_SHARE) {
      const unknown = { windowTokens: null, requestedTokens: null };
      this.#refused(size, unknown);
      const message = 'The prompt left too little room for the reply';
      return { ...result, outcome: { kind: 'overflow', message, status: null, ...unknown } };
    }
    return result;
  }

  #refused(size: number, told: ToldSizes): void {
    this.#searching = true;
    this.#windows.refused(this.#model, size, told);
  }
}

function isCut(outcome: Extract<Outcome, { kind: 'ok' }>): boolean {
  return outcome.finishReason !== null && CUT_REASONS.has(outcome.finishReason);
}
