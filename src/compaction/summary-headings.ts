/**
 * The sections of a rolling summary, in the order they are written. The prompt for a model and the embedded
 * summarizer use the same list, so that a summary written by one can be carried on by the other.
 */
export const SUMMARY_HEADINGS = {
  goal: { heading: 'Goal' },
  constraints: { heading: 'Constraints and preferences' },
  done: { heading: 'Done' },
  inProgress: { heading: 'In progress' },
  blocked: { heading: 'Blocked' },
  decisions: { heading: 'Decisions' },
  openQuestions: { heading: 'Open questions' },
  nextSteps: { heading: 'Next steps' },
  facts: { heading: 'Facts' },
} as const;
