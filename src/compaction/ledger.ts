import type { CallResult } from '../llm/outcome.js';

/** What the model calls of one compaction cost together, failed and rejected ones included. */
export class Ledger {
  /** Calls to the summarizer; each may have taken several requests. */
  calls = 0;
  requests = 0;
  /** Tokens; null until a reply reported some, so that "unknown" is not mistaken for 0. */
  inputTokens: number | null = null;
  outputTokens: number | null = null;

  /** The model that answered last, when it was a fallback. */
  answeredBy: string | null = null;

  add({ requests, usage, answeredBy }: CallResult): void {
    this.answeredBy = answeredBy ?? null;
    this.calls += 1;
    this.requests += requests;
    this.inputTokens = sum(this.inputTokens, usage.inputTokens);
    this.outputTokens = sum(this.outputTokens, usage.outputTokens);
  }
}

function sum(a: number | null, b: number | null): number | null {
  return a === null ? b : b === null ? a : a + b;
}
