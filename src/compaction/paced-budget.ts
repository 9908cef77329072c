import type { PromptSizes } from '../llm/windows/lesson.js';
import type { SummarizerBudget } from './summarizer.js';

/**
 * A budget whose endpoint has refused prompts, or may. Learned sizes are no window: taken for one, a small one would
 * leave no room for text, no call would be made, and nothing could ever teach better. So they only pace the calls.
 */
export type PacedBudget = SummarizerBudget & {
  /** The prompts to send as of now, in estimated tokens. Asked before each call: each may teach something. */
  readonly pace: () => PromptSizes;
};

/** Null for a budget that learns nothing. */
export function paceOf(budget: SummarizerBudget): PacedBudget['pace'] | null {
  return isPaced(budget) ? budget.pace : null;
}

function isPaced(budget: SummarizerBudget): budget is PacedBudget {
  return 'pace' in budget;
}
