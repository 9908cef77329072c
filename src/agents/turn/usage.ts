import type { TurnUsage } from './events.js';

export const NO_TURN_USAGE: TurnUsage = { inputTokens: null, outputTokens: null };

/** Sums what was reported; what no call reported stays null. */
export function addUsage(a: TurnUsage, b: TurnUsage): TurnUsage {
  return {
    inputTokens: sum(a.inputTokens, b.inputTokens),
    outputTokens: sum(a.outputTokens, b.outputTokens),
  };
}

function sum(a: number | null, b: number | null): number | null {
  return a === null ? b : a + (b ?? 0);
}
